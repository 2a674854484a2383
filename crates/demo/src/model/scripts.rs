//! What runs inside the server: procedures and a trigger, in JavaScript.

/// Adds a comment and counts it, all or nothing.
pub(crate) const CREATE_COMMENT: &str = "createComment";
/// Adds a like and counts it, all or nothing.
pub(crate) const CREATE_LIKE: &str = "createLike";
/// Writes a name into what somebody has in one logical partition.
pub(crate) const UPDATE_USERNAMES: &str = "updateUsernames";
/// Keeps the newest hundred.
pub(crate) const TRUNCATE_FEED: &str = "truncateFeed";

/// Returns a procedure that adds an item and counts it in its post.
///
/// Post, comments and likes are one logical partition, so one transaction holds them together.
pub(crate) fn add_and_count(name: &str, counter: &str) -> String {
    format!(
        r"function {name}(postId, item) {{
    const collection = getContext().getCollection();
    const link = `${{collection.getAltLink()}}/docs/${{postId}}`;
    collection.readDocument(link, (error, post) => {{
        if (error) throw error;
        post.{counter} += 1;
        collection.replaceDocument(post._self, post, (error) => {{
            if (error) throw error;
            item.postId = postId;
            collection.createDocument(collection.getSelfLink(), item, (error) => {{
                if (error) throw error;
            }});
        }});
    }});
}}"
    )
}

/// Writes a name where another stands. What does not fit into one execution is left: the answer says how many were
/// changed and whether there may be more.
pub(crate) const UPDATE_USERNAMES_BODY: &str = r#"function updateUsernames(userId, username) {
    const collection = getContext().getCollection();
    const found = {
        query: "SELECT * FROM p WHERE p.userId = @userId AND p.userUsername != @username",
        parameters: [
            { name: "@userId", value: userId },
            { name: "@username", value: username },
        ],
    };
    let changed = 0;
    const accepted = collection.queryDocuments(collection.getSelfLink(), found, { pageSize: 100 }, (error, items) => {
        if (error) throw error;
        for (const item of items) {
            item.userUsername = username;
            const accepted = collection.replaceDocument(item._self, item, (error) => {
                if (error) throw error;
            });
            if (!accepted) return answer(true);
            changed += 1;
        }
        answer(items.length === 100);
    });
    if (!accepted) answer(true);

    function answer(more) {
        getContext().getResponse().setBody({ changed, more });
    }
}"#;

/// Removes the oldest, so that a hundred are left. Its queries do not see the item just written.
pub(crate) const TRUNCATE_FEED_BODY: &str = r#"function truncateFeed() {
    const max = 100;
    const collection = getContext().getCollection();
    const written = getContext().getResponse().getBody();
    collection.queryDocuments(collection.getSelfLink(), "SELECT VALUE COUNT(1) FROM f", (error, counts) => {
        if (error) throw error;
        const surplus = counts[0] + 1 - max;
        if (surplus <= 0) return;
        const oldest = `SELECT TOP ${surplus} f._self, f.creationDate FROM f ORDER BY f.creationDate`;
        collection.queryDocuments(collection.getSelfLink(), oldest, (error, others) => {
            if (error) throw error;
            const all = others.concat([written]);
            all.sort((a, b) => (a.creationDate < b.creationDate ? -1 : 1));
            for (const item of all.slice(0, surplus)) {
                collection.deleteDocument(item._self, (error) => {
                    if (error) throw error;
                });
            }
        });
    });
}"#;
