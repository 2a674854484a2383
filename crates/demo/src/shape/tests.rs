use std::collections::HashSet;

use super::*;

#[test]
fn posts_comments_and_likes_are_as_many_as_published() {
    let shape = Shape::new(7, 2_000);
    let totals = shape.totals();
    let per = |part: u64, of: u64| part as f64 / of as f64;
    assert_eq!(totals.users, 2_001);
    assert!((per(totals.posts, totals.users) - 27.5).abs() < 0.8, "{totals:?}");
    assert!((per(totals.comments, totals.posts) - 12.5).abs() < 0.2, "{totals:?}");
    assert!((per(totals.likes, totals.posts) - 50.0).abs() < 0.8, "{totals:?}");
    let counts: HashSet<u32> = (1..2_000).map(|user| shape.post_count(user)).collect();
    assert_eq!((counts.iter().min(), counts.iter().max()), (Some(&5), Some(&50)));
}

#[test]
fn what_is_measured_is_there_at_every_scale() {
    for users in [1, 2, 10, 500] {
        let shape = Shape::new(7, users);
        let tested = shape.tested_user();
        assert_eq!(shape.post_count(tested), 27);
        let posts: Vec<Post> = (0..27).map(|number| shape.post(tested, number)).collect();
        assert!(posts.iter().all(|post| post.likes == 50));
        assert_eq!(posts.iter().map(|post| post.comments).sum::<u32>(), 14 * 12 + 13 * 13);
        let special = shape.special_post(0);
        let answers: Vec<Answer> = shape.answers(&special).collect();
        let comments = answers.iter().filter(|answer| answer.kind == AnswerKind::Comment).count();
        assert_eq!((comments, answers.len()), (20, 70));
        assert!((0..shape.post_count(0)).all(|number| {
            let post = shape.post(0, number);
            number < SPECIAL_POSTS || post.date_ticks > special.date_ticks
        }));
    }
}

#[test]
fn same_seed_gives_the_same_data_and_another_seed_other_data() {
    let ids = |seed| -> Vec<Guid> {
        let shape = Shape::new(seed, 20);
        let posts =
            (0..shape.user_count()).flat_map(|user| (0..shape.post_count(user)).map(move |n| (user, n)));
        let posts: Vec<Post> = posts.map(|(user, number)| shape.post(user, number)).collect();
        let answers = posts.iter().flat_map(|post| shape.answers(post).map(|answer| answer.id));
        let users = (0..shape.user_count()).map(|user| shape.user_id(user));
        users.chain(posts.iter().map(|post| post.id)).chain(answers).collect()
    };
    let first = ids(1);
    assert_eq!(first, ids(1));
    let mut all: HashSet<Guid> = first.iter().copied().collect();
    assert_eq!(all.len(), first.len(), "no id comes twice");
    let other = ids(2);
    all.extend(other.iter().copied());
    assert_eq!(all.len(), first.len() + other.len());
}

#[test]
fn answers_come_within_an_hour() {
    let shape = Shape::new(3, 50);
    for user in 0..20 {
        let post = shape.post(user, 4);
        for answer in shape.answers(&post) {
            assert!(answer.date > dates::text(post.date_ticks));
            assert!(answer.date <= dates::text(post.date_ticks + 60 * TICKS_PER_MINUTE));
            assert!(answer.author < 50, "the user that is measured only posts");
        }
    }
    assert!(shape.later_ticks(0) > NEWEST_TICKS + 60 * TICKS_PER_MINUTE);
}

#[test]
fn names() {
    let shape = Shape::new(3, 50);
    assert_eq!(&shape.user_name(17), b"user-000000017");
    assert_eq!(&name(b"name-", 1_234_567_890), b"name-234567890");
}
