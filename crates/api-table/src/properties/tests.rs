//! Tests of the properties of the service.

use super::Properties;
use crate::settings::REMEMBERED_MAX;
use crate::xml::{PropertiesChange, ServiceProperties, read_properties};

fn change(inner: &str) -> PropertiesChange {
    let text = format!("<StorageServiceProperties>{inner}</StorageServiceProperties>");
    read_properties(text.as_bytes()).unwrap()
}

#[tokio::test]
async fn changes_add_up_and_are_kept() {
    let (engine, env, clock) = crate::settings::tests::engine().await;
    let properties = Properties::new(engine.clone(), env.clone());
    let others = Properties::new(engine, env);
    assert_eq!(*properties.read().unwrap(), ServiceProperties::default());
    assert_eq!(*others.read().unwrap(), ServiceProperties::default());
    let rule = "<CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET</AllowedMethods></CorsRule>";
    let metrics = "<HourMetrics><Enabled>true</Enabled><IncludeAPIs>false</IncludeAPIs></HourMetrics>";
    properties.write(change(&format!("<Cors>{rule}</Cors>"))).await.unwrap();
    properties.write(change(metrics)).await.unwrap();
    let now = properties.read().unwrap();
    assert_eq!((now.cors_rules.len(), now.hour_metrics.includes_apis), (1, Some(false)));
    clock.advance(REMEMBERED_MAX);
    assert_eq!(*others.read().unwrap(), *now);
    others.write(change("<Cors/>")).await.unwrap();
    assert_eq!(others.read().unwrap().cors_rules, []);
    assert_eq!(others.read().unwrap().hour_metrics, now.hour_metrics);
}

#[tokio::test]
async fn changes_at_once_do_not_undo_each_other() {
    let (engine, env, _) = crate::settings::tests::engine().await;
    let properties = Properties::new(engine, env);
    let logging = "<Logging><Read>true</Read><Write>true</Write><Delete>true</Delete></Logging>";
    let hour = "<HourMetrics><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs></HourMetrics>";
    let minute = "<MinuteMetrics><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs></MinuteMetrics>";
    let written = tokio::join!(
        properties.write(change(logging)),
        properties.write(change(hour)),
        properties.write(change(minute))
    );
    assert!(matches!(written, (Ok(()), Ok(()), Ok(()))));
    let now = properties.read().unwrap();
    assert!(now.logging.is_read_logged && now.hour_metrics.is_enabled && now.minute_metrics.is_enabled);
}
