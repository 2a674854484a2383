//! Adding, changing and dropping elements; what others write meanwhile.

use crate::client::Account;

#[tokio::test(flavor = "multi_thread")]
async fn ids_are_taken_once() {
    let account = Account::new().await;
    let mut client = account.client().await;
    let script = "g.addV('x').property('pk','p').property('id','1')";
    client.results(script).await;
    let (code, inner, message) = client.failure(script).await;
    assert_eq!((code, inner), (500, 409));
    assert!(message.contains("Conflicting request to resource has been attempted."), "{message}");
    // In another partition it is another.
    client.results("g.addV('x').property('pk','q').property('id','1')").await;
    assert_eq!(client.texts("g.V('1').count()").await, "2");
    let ids = client.results("g.addV('x').property('pk','p').id()").await;
    assert_eq!(ids[0].as_str().unwrap().len(), 36);
}

#[tokio::test(flavor = "multi_thread")]
async fn properties_are_set_and_dropped() {
    let account = Account::new().await;
    let mut client = account.client().await;
    client.load_modern().await;
    let table = [
        ("g.V('1').property('age',30).values('age')", "30"),
        ("g.V('1').values('age')", "30"),
        ("g.V('1').property(list,'age',31).values('age')", "30 31"),
        ("g.V('1').values('age')", "30 31"),
        ("g.V('1').properties('age').hasValue(30).drop()", ""),
        ("g.V('1').values('age')", "31"),
        ("g.V('1').property(list,'age',32,'since',5).properties('age').hasValue(32).values('since')", "5"),
        ("g.V('1').properties('age').hasValue(32).properties('since').drop()", ""),
        ("g.V('1').properties('age').values('since')", ""),
        ("g.V('1').properties('age').drop()", ""),
        ("g.V('1').values('age')", ""),
        ("g.V('1').property('a',1).property('b',2).values('a','b')", "1 2"),
        ("g.E('7').property('weight',0.75).values('weight')", "0.75"),
        ("g.E('7').values('weight')", "0.75"),
        ("g.E('7').properties('weight').drop()", ""),
        ("g.E('7').values('weight')", ""),
    ];
    for (script, expected) in table {
        assert_eq!(client.texts(script).await, expected, "{script}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vertex_takes_its_edges_along() {
    let account = Account::new().await;
    let mut client = account.client().await;
    client.load_modern().await;
    client.results("g.V('3').drop()").await;
    assert_eq!(client.texts("g.V().count()").await, "5");
    assert_eq!(client.texts("g.E().id()").await, r#""10" "7" "8""#);
    client.results("g.E('7').drop()").await;
    assert_eq!(client.texts("g.E().id()").await, r#""10" "8""#);
    client.results("g.V('1').drop()").await;
    client.results("g.V('1').drop()").await;
    client.results("g.V().drop()").await;
    assert_eq!(client.texts("g.V().count()").await, "0");
    assert_eq!(client.texts("g.E().count()").await, "0");
}

/// What a traversal writes it sees itself; and what it makes while it looks, it does not find.
#[tokio::test(flavor = "multi_thread")]
async fn a_traversal_sees_what_it_wrote() {
    let account = Account::new().await;
    let mut client = account.client().await;
    client.load_modern().await;
    assert_eq!(
        client
            .texts(
                "g.addV('x').property('pk','p').property('id','a').as('a')\
                 .addV('x').property('pk','p').property('id','b').addE('to').from('a').inV().in().id()"
            )
            .await,
        r#""a""#
    );
    assert_eq!(client.texts("g.V('a').property('n',1).V('a').values('n')").await, "1");
    client.results("g.V().hasLabel('person').addV('copy').property('pk','copies')").await;
    assert_eq!(client.texts("g.V().hasLabel('copy').count()").await, "4");
    client.results("g.V().addV('copy').property('pk','copies')").await;
    assert_eq!(client.texts("g.V().hasLabel('copy').count()").await, "16");
    assert_eq!(
        client
            .texts(
                "g.V('zz').fold().coalesce(unfold(),addV('x').property('pk','p').property('id','zz')).id()"
            )
            .await,
        r#""zz""#
    );
    assert_eq!(
        client
            .texts(
                "g.V('zz').fold().coalesce(unfold(),addV('x').property('pk','p').property('id','zz')).id()"
            )
            .await,
        r#""zz""#
    );
}

/// Several writes of one logical partition are one: all or none of them.
#[tokio::test(flavor = "multi_thread")]
async fn writes_of_a_partition_are_one() {
    let account = Account::new().await;
    let mut client = account.client().await;
    client.results("g.addV('x').property('pk','p').property('id','taken')").await;
    let (code, inner, _) = client
        .failure(
            "g.addV('x').property('pk','p').property('id','new').addV('x').property('pk','p').property('id','taken')",
        )
        .await;
    assert_eq!((code, inner), (500, 409));
    assert_eq!(client.texts("g.V().id()").await, r#""taken""#);
}

#[tokio::test(flavor = "multi_thread")]
async fn edges_lie_with_the_vertex_they_leave() {
    let account = Account::new().await;
    let mut client = account.client().await;
    client.load_modern().await;
    client.results("g.V('3').addE('made-by').property(id,'m').to(g.V('1'))").await;
    assert!(account.item("software", "m").is_some());
    client.results("g.V('1').addE('x').property(id,'y').from(g.V('3'))").await;
    assert!(account.item("software", "y").is_some());
    let (code, _, message) = client.failure("g.V('1').addE('x').property('pk','other').to(g.V('2'))").await;
    assert_eq!(code, 597, "{message}");
}
