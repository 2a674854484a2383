use super::*;
use crate::testing::{Chance, sample};

type Sample = (Profile, Sketches);

fn items(count: usize, item: impl Fn(usize) -> String) -> Vec<String> {
    (0..count).map(item).collect()
}

fn users() -> Sample {
    sample(
        &[&["id"]],
        &items(20, |n| {
            format!(r#"{{"id":"u{n}","type":"user","username":"name {n}","age":{},"mail":"{n}@x"}}"#, n % 4)
        }),
    )
}

/// Finds the copies in a container beside that of the users.
fn with_users(items: &[String]) -> Vec<Copy> {
    let (users, posts) = (users(), sample(&[&["key"]], items));
    copies(&[("users", &users.0, &users.1), ("posts", &posts.0, &posts.1)])
}

#[test]
fn an_object_that_repeats_an_item() {
    let found = with_users(&items(40, |n| {
        let user = n % 10;
        // Every tenth is out of step.
        let name = if n % 10 == 3 { "old".to_owned() } else { format!("name {user}") };
        format!(
            r#"{{"id":"p{n}","title":"t{n}","author":{{"id":"u{user}","username":"{name}","age":{}}}}}"#,
            user % 4
        )
    }));
    assert_eq!(
        found,
        [Copy {
            host: (1, String::new(), "/author".to_owned()),
            source: (0, "user".to_owned()),
            reference: "/author/id".to_owned(),
            members: vec!["age".to_owned(), "username".to_owned()],
            originals: vec!["age".to_owned(), "username".to_owned()],
            items: 40,
            in_step: 0.9,
        }]
    );
}

#[test]
fn objects_in_an_array() {
    let found = with_users(&items(20, |n| {
        format!(
            r#"{{"id":"p{n}","likes":[{{"userId":"u{}","username":"name {}"}},{{"userId":"u0","username":"name 0"}}]}}"#,
            n % 20,
            n % 20
        )
    }));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].host.2, "/likes/[]");
    assert_eq!(found[0].reference, "/likes/[]/userId");
    assert_eq!((found[0].members.as_slice(), found[0].items), (&["username".to_owned()][..], 20));
}

#[test]
fn members_beside_a_reference() {
    let found = with_users(&items(40, |n| {
        let user = n % 20;
        format!(
            r#"{{"id":"p{n}","key":"name {user}","userId":"u{user}","userUsername":"name {user}","contact":"{user}@x","age":{}}}"#,
            n % 3
        )
    }));
    assert_eq!(
        found,
        [Copy {
            host: (1, String::new(), "/userId".to_owned()),
            source: (0, "user".to_owned()),
            reference: "/userId".to_owned(),
            // One by its name, one by its values; what partitions the container is kept for that.
            members: vec!["contact".to_owned(), "userUsername".to_owned()],
            originals: vec!["mail".to_owned(), "username".to_owned()],
            items: 40,
            in_step: 1.0,
        }]
    );
}

#[test]
fn a_member_beside_a_reference_must_be_equal_in_most_items() {
    let posts = |equal: usize| {
        items(100, |n| {
            let user = n % 20;
            let name = if n < equal { user } else { user + 1 };
            format!(r#"{{"id":"p{n}","userId":"u{user}","userName":"{n}","userUsername":"name {name}"}}"#)
        })
    };
    assert_eq!(with_users(&posts(81)).len(), 1);
    assert!((with_users(&posts(81))[0].in_step - 0.81).abs() < 1e-12);
    assert_eq!(with_users(&posts(80)).len(), 0);
}

#[test]
fn equal_values_are_no_copies_by_chance() {
    // A state that nearly all have, and few items.
    let constant = items(40, |n| format!(r#"{{"id":"p{n}","userId":"u{}","userAge":1}}"#, n % 5 * 4 + 1));
    assert_eq!(with_users(&constant), []);
    let few = items(4, |n| format!(r#"{{"id":"p{n}","author":{{"id":"u{n}","username":"name {n}"}}}}"#));
    assert_eq!(with_users(&few), []);
    let enough = items(5, |n| format!(r#"{{"id":"p{n}","author":{{"id":"u{n}","username":"name {n}"}}}}"#));
    assert_eq!(with_users(&enough).len(), 1);
}

#[test]
fn two_references_to_items_of_one_sort_have_copies_of_their_own() {
    let mut chance = Chance(9);
    let pairs: Vec<(u64, u64)> = (0..60).map(|_| (chance.below(20), chance.below(20))).collect();
    let found = with_users(&items(60, |n| {
        let (author, editor) = pairs[n];
        format!(
            r#"{{"id":"p{n}","authorId":"u{author}","authorUsername":"name {author}","editorId":"u{editor}","editorUsername":"name {editor}"}}"#
        )
    }));
    let told: Vec<(&str, &[String])> =
        found.iter().map(|copy| (copy.reference.as_str(), copy.members.as_slice())).collect();
    assert_eq!(
        told,
        [
            ("/authorId", &["authorUsername".to_owned()][..]),
            ("/editorId", &["editorUsername".to_owned()][..])
        ]
    );
}

#[test]
fn an_item_is_no_copy_of_itself() {
    let posts = items(20, |n| {
        format!(
            r#"{{"id":"p{n}","postId":"p{n}","title":"title {n}","post":{{"id":"p{n}","title":"title {n}"}}}}"#
        )
    });
    assert_eq!(with_users(&posts), []);
}

#[test]
fn a_container_that_holds_some_of_the_items_of_another() {
    let post =
        |n: usize| format!(r#"{{"id":"p{n}","key":"k{}","title":"title {n}","body":"body {n}"}}"#, n % 7);
    let posts = sample(&[&["key"]], &items(60, post));
    let feed = sample(&[&["id"]], &items(20, post));
    for (containers, host) in [
        ([("posts", &posts.0, &posts.1), ("feed", &feed.0, &feed.1)], 1),
        ([("feed", &feed.0, &feed.1), ("posts", &posts.0, &posts.1)], 0),
        ([("posts", &posts.0, &posts.1), ("again", &posts.0, &posts.1)], 1),
    ] {
        let found = copies(&containers);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].host.0, found[0].host.2.as_str(), found[0].source.0), (host, "/id", 1 - host));
        assert!(found[0].members.contains(&"title".to_owned()));
        assert_eq!(found[0].in_step, 1.0);
    }
}

#[test]
fn ids_that_several_different_items_have_are_left_out() {
    let twice = items(40, |n| format!(r#"{{"id":"u{}","type":"user","username":"name {n}"}}"#, n % 20));
    let (users, posts) = (
        sample(&[&["username"]], &twice),
        sample(
            &[&["id"]],
            &items(40, |n| {
                format!(r#"{{"id":"p{n}","author":{{"id":"u{}","username":"name {n}"}}}}"#, n % 20)
            }),
        ),
    );
    assert_eq!(copies(&[("users", &users.0, &users.1), ("posts", &posts.0, &posts.1)]), []);
}

#[test]
fn nothing_is_repeated_among_no_containers() {
    assert_eq!(copies(&[]), []);
    let empty = (Profile::default(), Sketches::default());
    assert_eq!(copies(&[("a", &empty.0, &empty.1)]), []);
}

/// Posts and comments in one container, and posts with their users in another, as a blog may keep them.
#[test]
fn a_blog_whose_posts_are_kept_twice() {
    let mut chance = Chance(3);
    let users =
        items(50, |n| format!(r#"{{"id":"u{n}","type":"user","userId":"u{n}","username":"name {n}"}}"#));
    let (mut posts, mut feed) = (Vec::new(), users.clone());
    for n in 0..200 {
        let (user, guest) = (chance.below(50), chance.below(50));
        let post = format!(
            r#"{{"id":"p{n}","type":"post","postId":"p{n}","userId":"u{user}","userUsername":"name {user}","title":"title {n}","likes":{}}}"#,
            chance.below(9)
        );
        feed.push(post.clone());
        posts.push(post);
        posts.push(format!(
            r#"{{"id":"c{n}","type":"comment","postId":"p{n}","userId":"u{guest}","userUsername":"name {guest}","text":"text {n}"}}"#
        ));
    }
    let (users, posts, feed) =
        (sample(&[&["id"]], &users), sample(&[&["postId"]], &posts), sample(&[&["userId"]], &feed));
    let containers =
        [("users", &users.0, &users.1), ("posts", &posts.0, &posts.1), ("feed", &feed.0, &feed.1)];
    let found = copies(&containers);
    let told: Vec<(usize, &str, &str, usize, String)> = found
        .iter()
        .map(|copy| {
            let (host, sort, path) = &copy.host;
            (*host, sort.as_str(), path.as_str(), copy.source.0, copy.members.join(" "))
        })
        .collect();
    let name = || "userUsername".to_owned();
    assert_eq!(
        told,
        [
            (1, "comment", "/userId", 0, name()),
            (1, "comment", "/userId", 2, name()),
            (1, "post", "/userId", 0, name()),
            (1, "post", "/userId", 2, name()),
            (2, "post", "/id", 1, "likes title userUsername".to_owned()),
            (2, "post", "/userId", 0, name()),
            (2, "post", "/userId", 2, name()),
            (2, "user", "/id", 0, "username".to_owned()),
        ]
    );
    assert!(found.iter().all(|copy| copy.in_step == 1.0));
}
