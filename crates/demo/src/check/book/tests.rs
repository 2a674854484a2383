use super::*;

fn post(id: &str, date: &str, name: &str, comments: u32) -> Vec<u8> {
    format!(
        r#"{{"id":"{id}","type":"post","postId":"{id}","userId":"u","userUsername":"{name}","title":"t","content":"{}","commentCount":{comments},"likeCount":0,"creationDate":"{date}"}}"#,
        "x".repeat(300)
    )
    .into_bytes()
}

fn copy(post: &[u8]) -> Vec<u8> {
    short_copy(post).unwrap().text
}

/// A book in which everything is in step, but for what is done to it.
fn check(change: impl FnOnce(&mut Book)) -> Checked {
    let posts = Totals { posts: 2, comments: 1, ..Totals::default() };
    let mut book = Book::new(Some(Expected { users_v2: 1, users_v3: 1, posts }));
    book.user_v2(br#"{"id":"u","username":"ada"}"#).unwrap();
    book.user_v3(br#"{"id":"u","username":"ada"}"#).unwrap();
    for one in [post("a", "1", "ada", 1), post("b", "2", "ada", 0)] {
        book.post(&one).unwrap();
        book.copy(&copy(&one)).unwrap();
        book.newest(&copy(&one)).unwrap();
    }
    book.answer(br#"{"type":"comment","postId":"a","userId":"u","userUsername":"ada"}"#).unwrap();
    change(&mut book);
    book.finish(Duration::ZERO)
}

#[test]
fn all_in_step() {
    let checked = check(|_| {});
    assert_eq!((checked.problem_count, checked.items, checked.copies), (0, 9, 4), "{:?}", checked.problems);
    assert!(checked.lines()[0].ends_with("every copy is in step"));
}

type Change = fn(&mut Book);

#[test]
fn what_is_not_in_step_is_found() {
    let cases: [(&str, Change); 9] = [
        ("is eve in V2", |book| {
            book.users.get_mut("u").unwrap().name = "eve".into();
            book.user_v3(br#"{"id":"u","username":"ada"}"#).unwrap();
        }),
        ("says eve, but user u is ada", |book| {
            book.answer(br#"{"type":"like","postId":"b","userId":"u","userUsername":"eve"}"#).unwrap();
        }),
        ("counts 0 comments and 0 likes, but has 0 and 1", |book| {
            book.answer(br#"{"type":"like","postId":"b","userId":"u","userUsername":"ada"}"#).unwrap();
        }),
        ("about post c, which is not there", |book| {
            book.answer(br#"{"type":"like","postId":"c","userId":"u","userUsername":"ada"}"#).unwrap();
        }),
        ("by user v, who is not there", |book| {
            book.answer(br#"{"type":"like","postId":"b","userId":"v","userUsername":"ada"}"#).unwrap();
        }),
        ("has 2 copies", |book| book.copy(&copy(&post("a", "1", "ada", 1))).unwrap()),
        ("not what it should be", |book| book.copy(&copy(&post("a", "1", "ada", 2))).unwrap()),
        ("is not in the list", |book| {
            book.listed.pop_last();
        }),
        ("but 1 were written", |book| {
            book.user_v2(br#"{"id":"w","username":"joe"}"#).unwrap();
        }),
    ];
    for (expected, change) in cases {
        let checked = check(change);
        assert!(
            checked.problems.iter().any(|problem| problem.contains(expected)),
            "{expected}: {:?}",
            checked.problems
        );
    }
}

#[test]
fn only_the_newest_hundred_belong_into_the_list() {
    let checked = check(|book| {
        book.expected = None;
        for number in 0..110 {
            let one = post(&format!("n{number}"), &format!("3{number:03}"), "ada", 0);
            book.post(&one).unwrap();
            book.copy(&copy(&one)).unwrap();
            if number >= 10 {
                book.newest(&copy(&one)).unwrap();
            }
        }
        book.listed.retain(|(date, _)| date.starts_with('3'));
    });
    assert_eq!(checked.problem_count, 0, "{:?}", checked.problems);
}

#[test]
fn problems_are_told_up_to_a_bound() {
    let checked = check(|book| {
        for _ in 0..PROBLEMS_TOLD_MAX + 5 {
            book.answer(br#"{"type":"like","postId":"c","userId":"u","userUsername":"ada"}"#).unwrap();
        }
    });
    assert_eq!(checked.problems.len(), PROBLEMS_TOLD_MAX);
    assert!(checked.lines().last().unwrap().contains("more"));
}
