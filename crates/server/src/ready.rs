//! What the server says when it is ready.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};

use armilla_rest_wire::percent;
use armilla_rest_wire::well_known::{COSMOS_KEY, STORAGE_ACCOUNT, STORAGE_KEY};

use crate::requests::api::{Door, Front};
use crate::settings::options::LogFormat;
use crate::settings::{Certificate, DEVELOPMENT_STORAGE_TABLE_PORT, Data, Settings};

/// Writes the one line on standard output that programs wait for.
///
/// Fields are only ever added at the end, as words that `name=value` patterns of its readers take apart.
pub(crate) fn write_ready_line(addresses: &[(Door, SocketAddr)], data: &Data, start_ms: u128) {
    let line = ready_line(addresses, data, std::process::id(), start_ms);
    let mut out = std::io::stdout().lock();
    // Whoever started us may not listen; that is no reason to stop.
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}

fn ready_line(addresses: &[(Door, SocketAddr)], data: &Data, pid: u32, start_ms: u128) -> String {
    let field = |(door, address): &(Door, SocketAddr)| match door.region {
        0 if door.front == Front::Mongo => format!(" {}={}", door.front.label(), mongo_url(*address)),
        0 if door.front == Front::Gremlin => format!(" {}={}", door.front.label(), gremlin_url(*address)),
        0 => format!(" {}={}", door.front.label(), url(*address)),
        region => format!(" {}_region_{}={}", door.front.label(), region + 1, url(*address)),
    };
    let (first, more): (Vec<_>, Vec<_>) =
        addresses.iter().partition(|(door, _)| *door == Door::of(Front::Sql));
    let join = |addresses: Vec<&(Door, SocketAddr)>| addresses.into_iter().map(field).collect::<String>();
    let explorer = addresses.iter().find(|(door, _)| *door == Door::of(Front::Sql));
    let explorer = explorer.map(|(_, address)| format!(" explorer={}", explorer_url(*address)));
    format!(
        "armilla ready:{} data={} pid={pid} start_ms={start_ms}{}{}\n",
        join(first),
        data_name(data),
        join(more),
        explorer.unwrap_or_default()
    )
}

/// Tells people, on standard error, how to connect, which key is in use and how to trust the certificate.
pub(crate) fn write_hints(settings: &Settings, addresses: &[(Door, SocketAddr)]) {
    let hints = hints(settings, addresses);
    match settings.log.format {
        LogFormat::Json => {
            for hint in hints {
                tracing::info!("{hint}");
            }
        }
        LogFormat::Text => {
            let mut text = String::new();
            for hint in hints {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "  {hint}");
            }
            let _ = std::io::stderr().lock().write_all(text.as_bytes());
        }
    }
}

fn hints(settings: &Settings, addresses: &[(Door, SocketAddr)]) -> Vec<String> {
    let mut hints = Vec::new();
    for (door, address) in addresses {
        let secure = url(*address);
        let plain = plain(&secure);
        let region = settings.region_names.get(door.region).filter(|_| door.region > 0);
        hints.push(match door.front {
            Front::Sql if region.is_some() => {
                format!("SQL API   {secure}  or  {plain}  ({})", region.map_or("", String::as_str))
            }
            Front::Sql => format!("SQL API   {secure}  or  {plain}"),
            Front::Table => format!("Table API {secure}  or  {plain}"),
            Front::StorageTable => {
                format!("Storage   {secure}  or  {plain}  (the Table API as it speaks it)")
            }
            Front::Mongo => format!("MongoDB   {}", mongo_url(*address)),
            Front::Gremlin => {
                let secure = gremlin_url(*address);
                format!("Gremlin   {secure}  or  {}", secure.replacen("wss", "ws", 1))
            }
        });
        if *door == Door::of(Front::Sql) {
            hints.push(format!("explorer  {}", explorer_url(*address)));
        }
        if let Some(text) = connection_string(settings, door.front, *address) {
            hints.push(format!("          {text}"));
        }
    }
    hints.push(if settings.uses_well_known_key() {
        format!("key       {} (the emulators' well-known key)", settings.key)
    } else {
        "key       as given with --key or ARMILLA_KEY".to_string()
    });
    hints.push(match (&settings.certificate, &settings.data) {
        (Certificate::Files { certificate, .. }, _) => format!("TLS       {}", certificate.display()),
        (Certificate::SelfSigned { .. }, Data::Folder(folder) | Data::Objects { folder, .. }) => {
            let path = folder.join("tls").join("cert.pem");
            format!(
                "TLS       self-signed; to trust it: NODE_EXTRA_CA_CERTS={0}, curl --cacert {0}",
                path.display()
            )
        }
        (Certificate::SelfSigned { .. }, Data::Memory) => {
            "TLS       self-signed, made for this run: use http, or do not check it".to_string()
        }
    });
    hints.push("more      armilla --help".to_string());
    hints
}

/// Returns what clients of tables are given; a key that is not well known is not written down.
fn connection_string(settings: &Settings, front: Front, address: SocketAddr) -> Option<String> {
    let is_well_known = settings.uses_well_known_key();
    let (account, key, endpoint) = match front {
        Front::Sql => return None,
        Front::Gremlin if settings.gremlin.is_open => return None,
        Front::Gremlin => return Some("user /dbs/<database>/colls/<graph>, password the key".to_owned()),
        Front::Mongo => {
            let key = if is_well_known { percent::encode(COSMOS_KEY).to_string() } else { "KEY".to_owned() };
            let host = if is_of_this_machine(address.ip()) {
                format!("localhost:{}", address.port())
            } else {
                address.to_string()
            };
            return Some(format!("mongodb://localhost:{key}@{host}/?authSource=admin"));
        }
        Front::Table => ("localhost", COSMOS_KEY, plain(&url(address))),
        Front::StorageTable => {
            // Clients take a host without a name for the storage service.
            let host = if is_of_this_machine(address.ip()) {
                format!("127.0.0.1:{}", address.port())
            } else {
                address.to_string()
            };
            let endpoint = format!("http://{host}/{STORAGE_ACCOUNT}");
            (STORAGE_ACCOUNT, STORAGE_KEY, endpoint)
        }
    };
    let key = if is_well_known { key } else { "KEY" };
    let is_development =
        front == Front::StorageTable && is_well_known && address.port() == DEVELOPMENT_STORAGE_TABLE_PORT;
    let short = if is_development { "UseDevelopmentStorage=true  or  " } else { "" };
    Some(format!(
        "{short}DefaultEndpointsProtocol=http;AccountName={account};AccountKey={key};TableEndpoint={endpoint};"
    ))
}

/// Returns an address without TLS.
fn plain(secure: &str) -> String {
    secure.replacen("https", "http", 1)
}

/// Tells whether clients on this machine reach it as `localhost`.
fn is_of_this_machine(ip: IpAddr) -> bool {
    ip.is_loopback() || ip.is_unspecified()
}

/// Returns the address of the explorer: in the clear on this machine, where a browser would warn of a certificate that it
/// does not know.
fn explorer_url(address: SocketAddr) -> String {
    let secure = url(address);
    let beginning = if is_of_this_machine(address.ip()) { plain(&secure) } else { secure };
    format!("{beginning}_explorer/")
}

/// Returns the address of the MongoDB API as clients on this machine write it.
fn mongo_url(address: SocketAddr) -> String {
    if is_of_this_machine(address.ip()) {
        format!("mongodb://localhost:{}/", address.port())
    } else {
        format!("mongodb://{address}/")
    }
}

/// Returns the address of the Gremlin API as clients on this machine write it.
fn gremlin_url(address: SocketAddr) -> String {
    url(address).replacen("https", "wss", 1)
}

/// Returns the address as clients on this machine write it.
fn url(address: SocketAddr) -> String {
    if is_of_this_machine(address.ip()) {
        format!("https://localhost:{}/", address.port())
    } else {
        format!("https://{address}/")
    }
}

/// Returns where data lies, without white space, which separates the fields of the line.
fn data_name(data: &Data) -> String {
    let folder = match data {
        Data::Memory => return "memory".to_string(),
        Data::Folder(folder) => folder.to_string_lossy(),
        Data::Objects { url, .. } => url.into(),
    };
    let mut name = String::with_capacity(folder.len());
    for character in folder.chars() {
        if character.is_whitespace() || character.is_control() || character == '%' {
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                name.push_str(percent::encode_byte(byte));
            }
        } else {
            name.push(character);
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_clients_write_them() {
        for (address, expected) in [
            ("127.0.0.1:8081", "https://localhost:8081/"),
            ("0.0.0.0:1", "https://localhost:1/"),
            ("[::1]:2", "https://localhost:2/"),
            ("[::]:2", "https://localhost:2/"),
            ("192.0.2.7:3", "https://192.0.2.7:3/"),
            ("[2001:db8::1]:4", "https://[2001:db8::1]:4/"),
        ] {
            assert_eq!(url(address.parse().unwrap()), expected);
        }
        for (address, expected) in [
            ("127.0.0.1:8081", "http://localhost:8081/_explorer/"),
            ("192.0.2.7:3", "https://192.0.2.7:3/_explorer/"),
        ] {
            assert_eq!(explorer_url(address.parse().unwrap()), expected);
        }
    }

    #[test]
    fn fields_are_added_behind_those_that_were_there() {
        let sql = (Door::of(Front::Sql), "127.0.0.1:8081".parse().unwrap());
        let table = (Door::of(Front::Table), "127.0.0.1:8902".parse().unwrap());
        let storage = (Door::of(Front::StorageTable), "127.0.0.1:10002".parse().unwrap());
        let east = (Door { front: Front::Sql, region: 1 }, "127.0.0.1:8082".parse().unwrap());
        let known = "armilla ready: sql=https://localhost:8081/ data=memory pid=7 start_ms=12";
        let last = " explorer=http://localhost:8081/_explorer/";
        for (addresses, more) in [
            (&[sql][..], ""),
            (&[sql, table], " table=https://localhost:8902/"),
            (&[sql, storage], " storage_table=https://localhost:10002/"),
            (&[sql, east], " sql_region_2=https://localhost:8082/"),
            (&[sql, table, storage], " table=https://localhost:8902/ storage_table=https://localhost:10002/"),
        ] {
            assert_eq!(ready_line(addresses, &Data::Memory, 7, 12), format!("{known}{more}{last}\n"));
        }
    }

    #[test]
    fn connection_strings() {
        let own = "key = \"b3VyIG93biBrZXk=\"";
        for (text, front, address, expected) in [
            (
                "",
                Front::Table,
                "127.0.0.1:8902",
                format!(
                    "DefaultEndpointsProtocol=http;AccountName=localhost;AccountKey={COSMOS_KEY};\
                     TableEndpoint=http://localhost:8902/;"
                ),
            ),
            (
                own,
                Front::Table,
                "192.0.2.7:1",
                "DefaultEndpointsProtocol=http;AccountName=localhost;AccountKey=KEY;\
                 TableEndpoint=http://192.0.2.7:1/;"
                    .to_owned(),
            ),
            (
                "",
                Front::StorageTable,
                "127.0.0.1:10002",
                format!(
                    "UseDevelopmentStorage=true  or  DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;\
                     AccountKey={STORAGE_KEY};TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;"
                ),
            ),
            (
                own,
                Front::StorageTable,
                "[2001:db8::1]:10002",
                "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=KEY;\
                 TableEndpoint=http://[2001:db8::1]:10002/devstoreaccount1;"
                    .to_owned(),
            ),
        ] {
            let settings = Settings::new(toml::from_str(text).unwrap()).unwrap();
            let given = connection_string(&settings, front, address.parse().unwrap());
            assert_eq!(given, Some(expected), "{text} {front:?}");
        }
    }

    #[test]
    fn data_names_are_one_word() {
        for (folder, expected) in [
            ("./armilla-data", "./armilla-data"),
            ("a b\n%", "a%20b%0A%25"),
            ("größe\u{3000}", "größe%E3%80%80"),
        ] {
            assert_eq!(data_name(&Data::Folder(folder.into())), expected);
        }
        assert_eq!(data_name(&Data::Memory), "memory");
    }
}
