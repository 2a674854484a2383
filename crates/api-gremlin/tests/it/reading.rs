//! Finding elements and what is next to them, by every way that there is.

use crate::client::Account;

#[tokio::test(flavor = "multi_thread")]
async fn elements_are_addressed_in_every_way() {
    let account = Account::new().await;
    let mut client = account.client().await;
    client.load_modern().await;
    let table = [
        ("g.V('1').values('name')", r#""marko""#),
        ("g.V(1).values('name')", r#""marko""#),
        ("g.V('1','2').values('name')", r#""marko" "vadas""#),
        ("g.V(['person','1']).values('name')", r#""marko""#),
        ("g.V(['software','1']).values('name')", ""),
        ("g.V(['person','1'],['software','3']).values('name')", r#""lop" "marko""#),
        ("g.V('1').has('pk','person').values('name')", r#""marko""#),
        ("g.V('1').has('pk','software').values('name')", ""),
        ("g.V().has('pk','person').hasId('4').values('name')", r#""josh""#),
        ("g.V().has('pk',within('person','software')).hasId('3','4').values('name')", r#""josh" "lop""#),
        ("g.V('7')", ""),
        ("g.E('7').label()", r#""knows""#),
        ("g.E(['person','12']).values('weight')", "0.2"),
        ("g.E('1')", ""),
        ("g.V('missing')", ""),
    ];
    for (script, expected) in table {
        assert_eq!(client.texts(script).await, expected, "{script}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_find_what_satisfies_them() {
    let account = Account::new().await;
    let mut client = account.client().await;
    client.load_modern().await;
    let table = [
        ("g.V().count()", "6"),
        ("g.E().count()", "6"),
        ("g.V().hasLabel('person').count()", "4"),
        ("g.V().hasLabel('person','software').count()", "6"),
        ("g.V().has('age',gt(30)).values('name')", r#""josh" "peter""#),
        ("g.V().has('age',inside(27,32)).values('name')", r#""marko""#),
        ("g.V().has('age',outside(28,33)).values('name')", r#""peter" "vadas""#),
        ("g.V().has('age',between(27,32)).values('name')", r#""marko" "vadas""#),
        ("g.V().has('age',29.0).values('name')", r#""marko""#),
        ("g.V().has('age',neq(29)).values('name')", r#""josh" "peter" "vadas""#),
        ("g.V().has('age','29').values('name')", ""),
        ("g.V().has('name',within('lop','josh')).values('name')", r#""josh" "lop""#),
        ("g.V().has('name',within()).values('name')", ""),
        ("g.V().has('name',without('lop','josh')).count()", "4"),
        ("g.V().has('name',startingWith('p')).values('name')", r#""peter""#),
        ("g.V().has('name',containing('ar')).values('name')", r#""marko""#),
        ("g.V().has('name',endingWith('o')).values('name')", r#""marko""#),
        ("g.V().has('name',lt('k').or(gt('v'))).values('name')", r#""josh" "vadas""#),
        ("g.V().hasNot('age').values('name')", r#""lop" "ripple""#),
        ("g.V().has('age').count()", "4"),
        ("g.E().has('weight',gte(1.0)).id()", r#""10" "8""#),
        ("g.E().hasLabel('created').has('weight',lt(0.3)).id()", r#""12""#),
        ("g.V().has('pk','person').count()", "4"),
        ("g.V().limit(2).count()", "2"),
        ("g.V().has('age',gt(0)).limit(3).count()", "3"),
    ];
    for (script, expected) in table {
        assert_eq!(client.texts(script).await, expected, "{script}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn neighbours_are_found() {
    let account = Account::new().await;
    let mut client = account.client().await;
    client.load_modern().await;
    let table = [
        ("g.V('1').out().values('name')", r#""josh" "lop" "vadas""#),
        ("g.V('1').out('knows').values('name')", r#""josh" "vadas""#),
        ("g.V('3').in().values('name')", r#""josh" "marko" "peter""#),
        ("g.V('4').both().values('name')", r#""lop" "marko" "ripple""#),
        ("g.V('1').outE().id()", r#""7" "8" "9""#),
        ("g.V('3').inE('created').id()", r#""11" "12" "9""#),
        ("g.V('1').outE().has('weight',gt(0.45)).inV().values('name')", r#""josh" "vadas""#),
        ("g.V('1').out().has('age',gt(30)).values('name')", r#""josh""#),
        ("g.V('1').out().hasLabel('software').values('name')", r#""lop""#),
        ("g.V().out().out().values('name')", r#""lop" "ripple""#),
        ("g.V().out().count()", "6"),
        ("g.V().both().count()", "12"),
        ("g.V('1').out().out().count()", "2"),
        ("g.V().hasLabel('person').outE('created').count()", "4"),
        ("g.V('1').repeat(out()).times(2).values('name')", r#""lop" "ripple""#),
        ("g.V('2').outE()", ""),
        ("g.V('1').outE('created').inV().inE().outV().values('name')", r#""josh" "marko" "peter""#),
    ];
    for (script, expected) in table {
        assert_eq!(client.texts(script).await, expected, "{script}");
    }
}

/// The same id in two partitions is two vertices, each with its own neighbours.
#[tokio::test(flavor = "multi_thread")]
async fn ids_may_be_the_same_in_two_partitions() {
    let account = Account::new().await;
    let mut client = account.client().await;
    for partition in ["p", "q"] {
        for id in ["a", "b"] {
            client.results(&format!("g.addV('x').property('pk','{partition}').property('id','{id}')")).await;
        }
        client
            .results(&format!("g.V(['{partition}','a']).addE('to').property(id,'e-{partition}').to(g.V(['{partition}','b']))"))
            .await;
    }
    let table = [
        ("g.V('a').count()", "2"),
        ("g.V(['p','a']).outE().id()", r#""e-p""#),
        ("g.V(['q','b']).inE().id()", r#""e-q""#),
        ("g.V(['q','b']).in().values('pk')", r#""q""#),
        ("g.V('a').out().values('pk')", r#""p" "q""#),
        ("g.V(['p','a'],['q','a']).outE().count()", "2"),
    ];
    for (script, expected) in table {
        assert_eq!(client.texts(script).await, expected, "{script}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_elements_come_in_pages() {
    let account = Account::new().await;
    let mut client = account.client().await;
    client.results("g.addV('hub').property('pk','p').property('id','hub')").await;
    for number in 0..1_200 {
        let body = format!(
            r#"{{"id":"v{number}","label":"leaf","pk":"p","n":[{{"id":"n{number}","_value":{number}}}]}}"#
        );
        account.put("p", &body).await;
        let edge = format!(
            r#"{{"id":"e{number}","label":"to","pk":"p","_isEdge":true,"_vertexId":"hub","_vertexLabel":"hub",
                "_sink":"v{number}","_sinkLabel":"leaf","_sinkPartition":"p"}}"#
        );
        account.put("p", &edge).await;
    }
    let table = [
        ("g.V().count()", "1201"),
        ("g.E().count()", "1200"),
        ("g.V('hub').out().count()", "1200"),
        ("g.V('hub').out().has('n',lt(10)).count()", "10"),
        ("g.V().hasLabel('leaf').values('n').sum()", "719400"),
        ("g.V('hub').outE().inV().dedup().count()", "1200"),
        ("g.V().hasLabel('leaf').in().dedup().id()", r#""hub""#),
        ("g.V().has('n',gte(1190)).count()", "10"),
    ];
    for (script, expected) in table {
        assert_eq!(client.texts(script).await, expected, "{script}");
    }
    assert_eq!(client.results("g.V().hasLabel('leaf').id()").await.len(), 1_200);
}
