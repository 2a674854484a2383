//! The worked example: a blog in three versions of its data model. On the first the advisor proposes what makes the second,
//! on the second what makes the third, with what those then cost.

use std::time::Duration;

use armilla_advisor::{Advice, Stage};

use crate::account::{Account, HOUR, only, rules};

const USERS: usize = 20;
const POSTS: usize = 200;
const PARTITIONS: u32 = 10;

#[derive(Clone, Copy, PartialEq)]
enum Version {
    One,
    Two,
}

fn user(number: usize) -> String {
    format!("user-{:06}", number % USERS)
}

fn named(version: Version, number: usize) -> String {
    match version {
        Version::One => String::new(),
        Version::Two => format!(r#","userUsername":"name of {:06}""#, number % USERS),
    }
}

fn comments(post: usize) -> usize {
    10 + post % 5
}

fn likes(post: usize) -> usize {
    20 + post % 9
}

/// A post, with a text that varies in its length.
fn post(version: Version, number: usize) -> String {
    let counts = match version {
        Version::One => String::new(),
        Version::Two => format!(r#","commentCount":{},"likeCount":{}"#, comments(number), likes(number)),
    };
    let content = "word ".repeat(250 + number % 20);
    format!(
        r#"{{"id":"post-{number:06}","type":"post","postId":"post-{number:06}","userId":"{}"{},"title":"title {number}","content":"{content}"{counts},"creationDate":"2026-01-{:02}T{:02}:00:00Z"}}"#,
        user(number),
        named(version, number),
        1 + number % 28,
        number % 24,
    )
}

fn answer(version: Version, kind: &str, post: usize, number: usize) -> String {
    let content = match kind {
        "comment" => format!(r#","content":"{}""#, "word ".repeat(200)),
        _ => String::new(),
    };
    format!(
        r#"{{"id":"{kind}-{post:06}-{number:04}","type":"{kind}","postId":"post-{post:06}","userId":"{}"{}{content},"creationDate":"2026-02-01T00:00:00Z"}}"#,
        user(post + number),
        named(version, post + number),
    )
}

async fn blog(version: Version) -> Account {
    let account = Account::new().await;
    account.container("users", "/id", 1).await;
    account.container("posts", "/postId", PARTITIONS).await;
    for number in 0..USERS {
        let (id, name) = (user(number), format!("name of {number:06}"));
        account.put("users", &format!("\"{id}\""), &format!(r#"{{"id":"{id}","username":"{name}"}}"#)).await;
    }
    for number in 0..POSTS {
        let key = format!("\"post-{number:06}\"");
        account.put("posts", &key, &post(version, number)).await;
        for kind in ["comment", "like"] {
            let count = if kind == "comment" { comments(number) } else { likes(number) };
            for answer_number in 0..count {
                account.put("posts", &key, &answer(version, kind, number, answer_number)).await;
            }
        }
    }
    account.begin();
    account
}

/// One operation after the other, as an application does them; time passes in between.
async fn use_it(account: &Account, version: Version) {
    let about = "SELECT * FROM c WHERE c.postId = @post AND c.type = @type";
    let counting = "SELECT VALUE COUNT(1) FROM c WHERE c.postId = @post AND c.type = @type";
    for round in 0..30 {
        let number = (round * 7) % POSTS;
        let (id, key) = (format!("post-{number:06}"), format!("\"post-{number:06}\""));
        let read_user = |number: usize| {
            let id = user(number);
            account.read("users", &format!("\"{id}\""), &id);
        };
        // Q2
        account.read("posts", &key, &id);
        if version == Version::One {
            read_user(number);
            for kind in ["\"comment\"", "\"like\""] {
                account.query("posts", counting, &[("@post", &key), ("@type", kind)], Some(&key)).await;
            }
        }
        account.pass(Duration::from_millis(1_500));
        // Q4 and Q5
        for kind in ["comment", "like"] {
            let quoted = format!("\"{kind}\"");
            account.query("posts", about, &[("@post", &key), ("@type", &quoted)], Some(&key)).await;
            if version == Version::One {
                let count = if kind == "comment" { comments(number) } else { likes(number) };
                (0..count).for_each(|answer| read_user(number + answer));
            }
            account.pass(Duration::from_millis(1_500));
        }
        // C3, which is rarer than that a post is read.
        if version == Version::One && round % 5 == 0 {
            account.put("posts", &key, &answer(version, "comment", number, 1_000 + round)).await;
            account.pass(Duration::from_millis(1_500));
        }
        // Q3
        let author = format!("\"{}\"", user(number));
        let mine = "SELECT * FROM c WHERE c.userId = @user AND c.type = 'post'";
        account.query("posts", mine, &[("@user", &author)], None).await;
        account.pass(Duration::from_millis(1_500));
        // Q6
        if round % 3 == 0 {
            let newest = "SELECT TOP 50 * FROM c WHERE c.type = 'post' ORDER BY c.creationDate DESC";
            account.query("posts", newest, &[], None).await;
            account.pass(Duration::from_millis(1_500));
        }
    }
    account.pass(HOUR);
}

/// As the example has it.
const ADD_AND_COUNT: &str = r"function createComment(postId, item) {
    const collection = getContext().getCollection();
    collection.readDocument(`${collection.getAltLink()}/docs/${postId}`, (error, post) => {
        if (error) throw error;
        post.commentCount += 1;
        collection.replaceDocument(post._self, post, (error) => {
            if (error) throw error;
            item.postId = postId;
            collection.createDocument(collection.getSelfLink(), item, (error) => {
                if (error) throw error;
            });
        });
    });
}";

fn line<'a>(stage: &'a Stage, part: &str) -> &'a armilla_advisor::ComparisonLine {
    let mut lines = stage.comparison.lines.iter().filter(|line| line.operation.contains(part));
    lines.next().unwrap_or_else(|| panic!("no line with {part}: {:#?}", stage.comparison))
}

fn near(what: &str, found: f64, expected: f64) {
    assert!((found - expected).abs() <= 0.15 * expected, "{what}: {found:.2}, and it costs {expected:.2}");
}

fn options(advice: &Advice) -> Vec<String> {
    advice.stages.iter().flat_map(|stage| stage.options.clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn on_the_first_version_it_proposes_the_second() {
    let account = blog(Version::One).await;
    use_it(&account, Version::One).await;
    let advice = account.advice().await;
    for rule in ["reads-after-query", "copy-worth-embedding", "fan-out-query", "newest-of-all"] {
        only(&advice, rule);
    }
    let known = rules(&advice);
    assert_eq!(known.iter().filter(|rule| **rule == "repeated-aggregate").count(), 2, "{known:?}");
    let options = options(&advice);
    for expected in [
        "--try-embed shop/posts:/userId=shop/users:/username",
        "--try-count shop/posts:post.commentCount=comment",
        "--try-count shop/posts:post.likeCount=like",
    ] {
        assert!(options.iter().any(|option| option == expected), "{expected}: {options:?}");
    }
    // What the second version costs, measured there.
    let second = blog(Version::Two).await;
    let key = "\"post-000007\"";
    let about = "SELECT * FROM c WHERE c.postId = @post AND c.type = @type";
    let mut comments = 0.0;
    for round in 0..30 {
        let key = format!("\"post-{:06}\"", (round * 7) % POSTS);
        let parameters = [("@post", key.as_str()), ("@type", "\"comment\"")];
        comments += second.query("posts", about, &parameters, Some(&key)).await / 30.0;
    }
    let stage = &advice.stages[0];
    let read = line(stage, "read an item");
    near("a post", read.after, second.read("posts", key, "post-000007"));
    assert!(read.before > 8.0, "{read:?}");
    assert_eq!((read.requests_before.round(), read.requests_after), (4.0, 1.0));
    let lists = line(stage, "c.postId");
    assert!(lists.requests_before > 10.0 && lists.requests_after == 1.0, "{lists:?}");
    // The lists have comments and likes in one line; the longer of both is what is dear.
    assert!(lists.after <= 1.15 * comments, "{lists:?}, and comments cost {comments:.2}");
    let comment = answer(Version::Two, "comment", 7, 1_000);
    let counted = second.run("posts", key, ADD_AND_COUNT, &format!(r#"["post-000007",{comment}]"#)).await;
    let line = line(stage, "create");
    near("a comment", line.after, counted);
    assert_eq!((line.requests_before, line.requests_after), (1.0, 1.0), "{line:?}");
    assert!(line.after > line.before, "{line:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn on_the_second_version_it_proposes_the_third() {
    let account = blog(Version::Two).await;
    use_it(&account, Version::Two).await;
    let advice = account.advice().await;
    for rule in ["fan-out-query", "newest-of-all"] {
        only(&advice, rule);
    }
    for rule in ["reads-after-query", "copy-worth-embedding", "repeated-aggregate"] {
        assert!(!rules(&advice).contains(&rule), "{rule}: {:#?}", advice.findings);
    }
    let options = options(&advice);
    assert!(
        options.iter().any(|option| option == "--try-copy shop/posts.post:/userId,/content<100"),
        "{options:?}"
    );
    assert!(
        options.iter().any(|option| option.starts_with("--try-newest shop/posts.post:/creationDate,50")),
        "{options:?}"
    );
    // The third version, as the example has it: users with shortened copies of their posts, and a list of the newest.
    let third = Account::new().await;
    third.container("users", "/userId", 1).await;
    third.container("feed", "/type", 1).await;
    let mut newest: Vec<(String, String)> = Vec::new();
    for number in 0..POSTS {
        let copy = post(Version::Two, number);
        let copy = copy.replace(&"word ".repeat(250 + number % 20), &"word ".repeat(20));
        third.put("users", &format!("\"{}\"", user(number)), &copy).await;
        let date = copy.split("creationDate\":\"").nth(1).unwrap().to_owned();
        newest.push((date, copy));
    }
    newest.sort_by(|one, other| other.0.cmp(&one.0));
    for (_, copy) in newest.into_iter().take(50) {
        third.put("feed", "\"post\"", &copy).await;
    }
    let mine = "SELECT * FROM c WHERE c.userId = @user AND c.type = 'post'";
    let author = "\"user-000007\"";
    let list = third.query("users", mine, &[("@user", author)], Some(author)).await;
    let text = "SELECT TOP 50 * FROM c WHERE c.type = 'post' ORDER BY c.creationDate DESC";
    let feed = third.query("feed", text, &[], Some("\"post\"")).await;
    let stage = advice.stages.last().unwrap();
    near("a user's posts", line(stage, "c.userId").after, list);
    near("the newest", line(stage, "ORDER BY").after, feed);
    assert!(line(stage, "c.userId").before > 20.0);
}
