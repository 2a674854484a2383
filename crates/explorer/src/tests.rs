//! Requests through the whole explorer, over a store in memory.

use std::sync::Arc;
use std::time::Duration;

use armilla_engine::{Caller, ContainerDefinition, Content, Engine, EngineOptions, PermissionDefinition};
use armilla_env::{Env, SimulatedClock};
use armilla_kv::memory::MemoryStore;
use armilla_rest_wire::authorization::{AccountKeys, KeyAccess, SignedIn};
use armilla_value::{Value, json};
use bytes::Bytes;
use http::request::Builder;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full};

use crate::{Explorer, ExplorerOptions, Onward, Others, Peer};

const KEY: &str = "c2VjcmV0";
const READING_KEY: &str = "cmVhZA==";
const HERE: Peer = Peer { is_secure: true, is_local: true };
const ELSEWHERE: Peer = Peer { is_secure: false, is_local: false };

struct Fixture {
    explorer: Explorer,
    engine: Engine,
    clock: Arc<SimulatedClock>,
}

impl Fixture {
    async fn new(is_key_known: bool) -> Fixture {
        let (env, clock) = Env::simulated(1);
        let store = Arc::new(MemoryStore::new());
        let engine = Engine::open(store, env.clone(), EngineOptions::default()).await.unwrap();
        let keys = AccountKeys::new([KEY], [READING_KEY]).unwrap();
        let others = Others { mongo: true, gremlin: false, table: true };
        let options = ExplorerOptions { keys, is_key_known, others };
        Fixture { explorer: Explorer::new(engine.clone(), env, options), engine, clock }
    }

    async fn ask(&self, request: Builder, body: &str, peer: Peer) -> (Response<()>, Value) {
        let request = request.header("host", "localhost:8081");
        let request = request.body(Full::new(Bytes::from(body.to_owned()))).unwrap();
        let (head, body) = self.explorer.handle(request, peer).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (Response::from_parts(head, ()), json::parse(&body).unwrap_or(Value::Null))
    }

    async fn sign_in(&self, body: &str, peer: Peer) -> (StatusCode, Signed) {
        let request = Request::post("/_explorer/session").header("content-type", "application/json");
        let (head, body) = self.ask(request, body, peer).await;
        let cookie = head.headers().get(header::SET_COOKIE).map(|value| value.to_str().unwrap().to_owned());
        (head.status(), Signed { cookie: cookie.unwrap_or_default(), csrf: text(&body, "csrf"), body })
    }

    /// Makes a permission for a container and returns its token.
    async fn token(&self) -> String {
        let (engine, caller) = (&self.engine, Caller::full());
        engine.create_database(&caller, "d", None).await.unwrap();
        let definition = json::parse(br#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#).unwrap();
        let definition = ContainerDefinition::from_value(&definition).unwrap();
        engine.create_container(&caller, "d", definition, None).await.unwrap();
        engine.create_user(&caller, "d", "u").await.unwrap();
        let permission = PermissionDefinition {
            id: "p".to_owned(),
            mode: "All".to_owned(),
            resource_link: "dbs/d/colls/c".to_owned(),
            partition_key: None,
        };
        let made = engine.create_permission(&caller, "d", "u", &permission, None).await.unwrap();
        let Content::Permission(permission) = made.value.content else { panic!("no permission") };
        permission.token
    }

    /// Lets a request through, and returns where it goes and as whom.
    fn pass(&self, request: Builder) -> Result<http::request::Parts, u16> {
        let (mut head, ()) = request.header("host", "localhost:8081").body(()).unwrap().into_parts();
        match self.explorer.pass(&mut head) {
            Ok(_) => Ok(head),
            Err(response) => Err(response.status().as_u16()),
        }
    }
}

struct Signed {
    cookie: String,
    csrf: String,
    body: Value,
}

impl Signed {
    fn on(&self, request: Builder) -> Builder {
        let pair = self.cookie.split(';').next().unwrap();
        request.header("cookie", format!("other=1; {pair}")).header("x-armilla-csrf", &self.csrf)
    }
}

fn text(body: &Value, name: &str) -> String {
    body.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_key_begins_a_session_that_permits_what_the_key_does() {
    let fixture = Fixture::new(false).await;
    for (key, access, word) in
        [(KEY, KeyAccess::ReadWrite, "full"), (READING_KEY, KeyAccess::ReadOnly, "read-only")]
    {
        let (status, signed) = fixture.sign_in(&format!("{{\"key\":\"{key}\"}}"), ELSEWHERE).await;
        assert_eq!(status, 200);
        assert_eq!(
            (text(&signed.body, "state"), text(&signed.body, "access")),
            ("signed-in".into(), word.into())
        );
        let pair = signed.cookie.split_once(';').unwrap();
        assert!(pair.0.starts_with("armilla-explorer-8081="), "{}", pair.0);
        assert_eq!(pair.1, " Path=/_explorer/; Max-Age=43200; HttpOnly; SameSite=Strict");
        assert!(!signed.cookie.contains(key));

        let request = Request::get("/_explorer/rest/dbs/a%20b?x=1").header("authorization", "forged");
        let head = fixture.pass(signed.on(request)).unwrap();
        assert_eq!(head.uri, "/dbs/a%20b?x=1");
        assert_eq!(head.extensions.get::<SignedIn>(), Some(&SignedIn(access)));
        assert_eq!(head.extensions.get::<Onward>(), Some(&Onward::Sql));
        for name in ["cookie", "x-armilla-csrf", "authorization"] {
            assert!(!head.headers.contains_key(name), "{name}");
        }
        let (_, told) = fixture.ask(signed.on(Request::get("/_explorer/session")), "", ELSEWHERE).await;
        assert_eq!((text(&told, "csrf"), text(&told, "access")), (signed.csrf.clone(), word.into()));
        assert_eq!(told.get("apis").unwrap().get("mongo"), Some(&Value::from(true)));
    }
}

/// Browsers send cookies to all ports of a host: to programs of strangers, too, which can also set some.
#[tokio::test]
async fn the_cookie_alone_is_worth_nothing() {
    let fixture = Fixture::new(false).await;
    let (_, signed) = fixture.sign_in(&format!("{{\"key\":\"{KEY}\"}}"), HERE).await;
    let pair = signed.cookie.split(';').next().unwrap();
    let (_, told) = fixture.ask(Request::get("/_explorer/session").header("cookie", pair), "", HERE).await;
    assert_eq!((text(&told, "state").as_str(), told.get("csrf")), ("needed", Some(&Value::Null)));
    let name = pair.split('=').next().unwrap();
    let shadowed =
        Request::get("/_explorer/rest/dbs").header("cookie", format!("{name}=x; {name}=y; {pair}"));
    assert!(fixture.pass(shadowed.header("x-armilla-csrf", &signed.csrf)).is_ok());
}

#[tokio::test]
async fn nothing_passes_without_a_session_and_its_proof() {
    let fixture = Fixture::new(true).await;
    let (_, signed) = fixture.sign_in("{}", HERE).await;
    assert!(signed.cookie.ends_with("; Secure"), "{}", signed.cookie);
    let pair = signed.cookie.split(';').next().unwrap();
    let get = || Request::get("/_explorer/rest/dbs");
    assert_eq!(fixture.pass(get()).err(), Some(401));
    assert_eq!(fixture.pass(get().header("x-armilla-csrf", &signed.csrf)).err(), Some(401));
    assert_eq!(fixture.pass(get().header("cookie", pair)).err(), Some(403));
    let other = get().header("cookie", pair).header("x-armilla-csrf", "other");
    assert_eq!(fixture.pass(other).err(), Some(403));
    // The cookie of a server on another port of this machine.
    let elsewhere = pair.replace("8081", "8082");
    let other = get().header("cookie", elsewhere).header("x-armilla-csrf", &signed.csrf);
    assert_eq!(fixture.pass(other).err(), Some(401));
    assert!(fixture.pass(signed.on(get())).is_ok());

    fixture.clock.advance(Duration::from_secs(3_600));
    assert_eq!(fixture.pass(signed.on(get())).err(), Some(401));
}

#[tokio::test]
async fn without_a_key_it_is_open_here_and_nowhere_else() {
    for (is_key_known, peer, expected) in
        [(true, HERE, 200), (true, ELSEWHERE, 401), (false, HERE, 401), (false, ELSEWHERE, 401)]
    {
        let fixture = Fixture::new(is_key_known).await;
        let (_, told) = fixture.ask(Request::get("/_explorer/session"), "", peer).await;
        assert_eq!(text(&told, "state"), if expected == 200 { "open" } else { "needed" });
        assert_eq!(fixture.sign_in("{}", peer).await.0, expected);
    }
    let fixture = Fixture::new(true).await;
    for (body, expected) in [
        ("", 400),
        ("[]", 400),
        ("{\"key\":1}", 400),
        ("{\"key\":\"c2VjcmV0\",\"token\":\"x\"}", 400),
        ("{\"key\":\"d3Jvbmc=\"}", 401),
        ("{\"key\":\"?\"}", 401),
        ("{\"token\":\"type=master&ver=1.0&sig=AA==\"}", 401),
        ("{\"token\":\"type=resource&ver=1.0&sig=AA==;\"}", 401),
    ] {
        let (status, signed) = fixture.sign_in(body, HERE).await;
        assert_eq!(status, expected, "{body}");
        assert!(!text(&signed.body, "message").is_empty() && signed.cookie.is_empty(), "{body}");
    }
    let long = format!("{{\"key\":\"{}\"}}", "x".repeat(20_000));
    assert_eq!(fixture.sign_in(&long, HERE).await.0, 400);
    // What a form of another page could send.
    let form = Request::post("/_explorer/session").header("content-type", "text/plain");
    assert_eq!(fixture.ask(form, "{}", HERE).await.0.status(), 400);
}

#[tokio::test]
async fn a_resource_token_is_passed_on() {
    let fixture = Fixture::new(false).await;
    let token = fixture.token().await;
    let (status, signed) = fixture.sign_in(&format!("{{\"token\":\"{token}\"}}"), ELSEWHERE).await;
    assert_eq!((status.as_u16(), text(&signed.body, "access")), (200, "token".into()));
    let head = fixture.pass(signed.on(Request::get("/_explorer/rest/dbs/d/colls/c/docs"))).unwrap();
    assert_eq!(head.headers["authorization"], token.as_str());
    assert!(head.extensions.get::<SignedIn>().is_none());
    // It is none of the others'.
    assert_eq!(fixture.pass(signed.on(Request::get("/_explorer/table/Tables"))).err(), Some(403));
    assert_eq!(fixture.pass(signed.on(Request::post("/_explorer/mongo"))).err(), Some(403));
}

#[tokio::test]
async fn other_apis_are_asked_where_they_are_there() {
    let fixture = Fixture::new(true).await;
    let (_, signed) = fixture.sign_in("{}", HERE).await;
    let head = fixture.pass(signed.on(Request::get("/_explorer/table/Tables?$top=1"))).unwrap();
    assert_eq!(
        (head.uri.to_string().as_str(), head.extensions.get()),
        ("/Tables?$top=1", Some(&Onward::Table))
    );
    let head = fixture.pass(signed.on(Request::post("/_explorer/mongo"))).unwrap();
    assert_eq!(head.extensions.get(), Some(&Onward::Mongo));
    assert_eq!(head.extensions.get(), Some(&SignedIn(KeyAccess::ReadWrite)));
    for (request, status) in [
        (Request::get("/_explorer/mongo"), 405),
        (Request::post("/_explorer/gremlin"), 404),
        (Request::post("/_explorer/mongo/x"), 404),
    ] {
        assert_eq!(fixture.pass(signed.on(request)).err(), Some(status));
    }
    for path in ["/_explorer/rest", "/_explorer/session", "/_explorer/tables", "/_explorer/mongo/x", "/dbs"] {
        assert!(!Explorer::leads_on(path), "{path}");
    }
    assert_eq!(fixture.pass(Request::post("/_explorer/mongo")).err(), Some(401));
}

#[tokio::test]
async fn signing_out_ends_the_session() {
    let fixture = Fixture::new(false).await;
    let (_, signed) = fixture.sign_in(&format!("{{\"key\":\"{KEY}\"}}"), HERE).await;
    let without = Request::delete("/_explorer/session").header("cookie", &signed.cookie);
    assert_eq!(fixture.ask(without, "", HERE).await.0.status(), 403);
    let (head, _) = fixture.ask(signed.on(Request::delete("/_explorer/session")), "", HERE).await;
    assert_eq!(head.status(), 204);
    assert!(head.headers()["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    assert_eq!(fixture.pass(signed.on(Request::get("/_explorer/rest/dbs"))).err(), Some(401));
}

#[tokio::test]
async fn the_page_comes_with_what_keeps_others_out() {
    let fixture = Fixture::new(true).await;
    let (head, _) = fixture.ask(Request::get("/_explorer"), "", HERE).await;
    assert_eq!((head.status().as_u16(), &head.headers()["location"]), (308, &"/_explorer/".parse().unwrap()));
    let mut policies = Vec::new();
    for path in ["/_explorer/", "/_explorer/index.html"] {
        let request =
            Request::get(path).header("host", "localhost:8081").body(Full::<Bytes>::default()).unwrap();
        let (head, body) = fixture.explorer.handle(request, HERE).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let page = std::str::from_utf8(&body).unwrap().to_owned();
        let policy = head.headers["content-security-policy"].to_str().unwrap().to_owned();
        let nonce = policy.split("'nonce-").nth(1).unwrap().split('\'').next().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(!page.contains("__NONCE__") && page.contains(nonce), "{page}");
        assert_eq!(head.headers["cache-control"], "no-store");
        policies.push(policy);

        // All that the page names is there, in both forms.
        let assets = page.split('"').filter_map(|word| word.strip_prefix("/_explorer/assets/"));
        let mut count = 0;
        for asset in assets {
            count += 1;
            let mut lengths = Vec::new();
            for accepted in ["gzip, br", "gzip;q=0"] {
                let request =
                    Request::get(format!("/_explorer/assets/{asset}")).header("accept-encoding", accepted);
                let response =
                    fixture.explorer.handle(request.body(Full::<Bytes>::default()).unwrap(), HERE).await;
                assert_eq!(response.status(), 200, "{asset}");
                assert_eq!(response.headers().contains_key("content-encoding"), accepted == "gzip, br");
                assert_eq!(response.headers()["cache-control"], "public, max-age=31536000, immutable");
                lengths.push(response.into_body().collect().await.unwrap().to_bytes().len());
            }
            assert!(lengths[0] < lengths[1], "{lengths:?}");
        }
        assert!(count > 0);
    }
    assert_ne!(policies[0], policies[1]);
    for (request, status) in [
        (Request::get("/_explorer/assets/none.js"), 404),
        (Request::get("/_explorer/../secret"), 404),
        (Request::post("/_explorer/"), 405),
        (Request::put("/_explorer/session"), 405),
    ] {
        assert_eq!(fixture.ask(request, "", HERE).await.0.status(), status);
    }
}
