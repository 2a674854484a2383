use super::*;

fn index(text: &str) -> Index {
    let key = armilla_value::json::parse(text.replace('\'', "\"").as_bytes()).unwrap();
    let specification = armilla_value::Object::from([("key", key), ("name", Value::from("i"))]);
    Index::parse(&specification).unwrap()
}

fn filter(text: &str) -> Filter {
    let filter = armilla_value::json::parse(text.replace('\'', "\"").as_bytes()).unwrap();
    Filter::parse(filter.as_object().unwrap(), &armilla_mongo_expression::Scope::default()).unwrap()
}

#[test]
fn which_index_has_an_order() {
    let cases = [
        ("{'a':1,'b':1}", "{}", "a b", Some("a b")),
        ("{'a':1,'b':1}", "{}", "-a -b", Some("-a -b")),
        ("{'a':1,'b':1}", "{}", "a -b", None),
        ("{'a':1,'b':-1}", "{}", "-a b", Some("-a b")),
        ("{'a':1,'b':1,'c':1}", "{}", "a b", Some("a b c")),
        ("{'a':1,'b':1,'c':-1}", "{'a':5}", "b", Some("a b -c")),
        ("{'a':1,'b':1,'c':-1}", "{'a':5}", "-b", Some("-a -b c")),
        ("{'a':1,'b':1}", "{'a':5}", "a b", Some("a b")),
        ("{'a':1,'b':1}", "{'a':{'$gt':5}}", "b", None),
        ("{'a':1,'b':1}", "{'a':null}", "b", None),
        ("{'a':1,'b':1}", "{'$or':[{'a':5},{'c':1}]}", "b", None),
        ("{'a':1,'b':1,'c':1}", "{'a':5,'b':6}", "c", Some("a b c")),
        ("{'a':1,'b':'2dsphere'}", "{}", "a b", None),
        ("{'$**':1}", "{}", "a b", None),
    ];
    for (fields, given, order, expected) in cases {
        let keys: Vec<(String, bool)> = order
            .split(' ')
            .map(|key| (key.trim_start_matches('-').to_owned(), key.starts_with('-')))
            .collect();
        let index = index(fields);
        let found = composite(&index, &filter(given), &keys).map(|fields| {
            let fields = fields
                .iter()
                .map(|(path, is_descending)| format!("{}{path}", if *is_descending { "-" } else { "" }));
            fields.collect::<Vec<_>>().join(" ")
        });
        assert_eq!(found.as_deref(), expected, "{fields} for {given} by {order}");
    }
}

#[test]
fn which_paths_are_indexed() {
    let indexes = [index("{'a':1,'b.c':-1}"), index("{'w.$**':1}")];
    for (path, expected) in
        [("_id", true), ("a", true), ("b.c", true), ("b", false), ("w.x", true), ("wx", false)]
    {
        assert_eq!(is_single(&indexes, path), expected, "{path}");
    }
    let all = [index("{'$**':1}")];
    assert!(is_single(&all, "a") && !is_single(&all, "_id"));
    for (path, expected) in
        [("a", true), ("a.0", false), ("ttl", false), ("a.b.c.d", true), ("a.b.c.d.e", false)]
    {
        assert_eq!(is_walkable(path), expected, "{path}");
    }
}
