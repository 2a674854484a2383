//! Signed requests of the Table API, as bytes: the storage service's flavour with SharedKeyLite.
//!
//! Names and keys are used as they are given: they must consist of characters that a path carries unescaped.

use std::io::Write as _;
use std::net::SocketAddr;

use armilla_env::Env;
use armilla_rest_wire::http_date::RequestDate;
use armilla_rest_wire::signature::AccountKey;
use armilla_rest_wire::well_known::{STORAGE_ACCOUNT as ACCOUNT, STORAGE_KEY};

use super::workload::{BATCH_ENTITIES, Case, Entities, NewKeys, PARTITION_ENTITIES, READ_TABLE, WRITE_TABLE};

/// The version of the protocol that requests name.
const VERSION: &str = "2019-02-02";

/// What the SDKs of the service accept.
const ACCEPT: &str = "application/json;odata=minimalmetadata";

const BATCH_BOUNDARY: &str = "batch_b1f0";
const CHANGE_SET_BOUNDARY: &str = "changeset_c1f0";

/// Composes requests and signs them.
#[derive(Clone)]
pub(super) struct Composer {
    key: AccountKey,
    env: Env,
    address: SocketAddr,
    date: RequestDate,
}

impl Composer {
    /// Returns a composer of requests to an address.
    pub(super) fn new(env: &Env, address: SocketAddr) -> Composer {
        let key = AccountKey::new(STORAGE_KEY).expect("the well-known key is base64");
        Composer { key, env: env.clone(), address, date: RequestDate::new(0) }
    }

    /// Writes a request for a new table.
    pub(super) fn write_create_table(&mut self, out: &mut Vec<u8>, table: &str) {
        let body = format!("{{\"TableName\":\"{table}\"}}");
        self.write(out, "POST", "Tables", "", WRITE_HEADERS, body.as_bytes());
    }

    /// Writes a request for a page of the entities of one partition key.
    pub(super) fn write_page(&mut self, out: &mut Vec<u8>, partition_key: &str, entities: usize) {
        let top = match entities {
            // As many as a page holds by itself.
            PARTITION_ENTITIES => String::new(),
            count => format!("&$top={count}"),
        };
        let query = format!("?$filter=PartitionKey%20eq%20%27{partition_key}%27{top}");
        self.write(out, "GET", &format!("{READ_TABLE}()"), &query, "", b"");
    }

    /// Writes a request for one entity.
    pub(super) fn write_get(&mut self, out: &mut Vec<u8>, partition_key: &str, row_key: &str) {
        let path = format!("{READ_TABLE}(PartitionKey='{partition_key}',RowKey='{row_key}')");
        self.write(out, "GET", &path, "", "", b"");
    }

    /// Writes an insert of one entity.
    pub(super) fn write_insert(&mut self, out: &mut Vec<u8>, table: &str, entity: &str) {
        self.write(out, "POST", table, "", WRITE_HEADERS, entity.as_bytes());
    }

    /// Writes a change set that inserts entities.
    pub(super) fn write_batch(&mut self, out: &mut Vec<u8>, table: &str, entities: &[String]) {
        let mut body = Vec::with_capacity(entities.len() * 1_024);
        // Writing to a vector cannot fail.
        let _ = write!(
            body,
            "--{BATCH_BOUNDARY}\r\nContent-Type: multipart/mixed; boundary={CHANGE_SET_BOUNDARY}\r\n\r\n"
        );
        for (number, entity) in entities.iter().enumerate() {
            let _ = write!(
                body,
                "--{CHANGE_SET_BOUNDARY}\r\nContent-Type: application/http\r\n\
                 Content-Transfer-Encoding: binary\r\nContent-ID: {number}\r\n\r\n\
                 POST http://{}/{ACCOUNT}/{table} HTTP/1.1\r\nAccept: {ACCEPT}\r\n\
                 Content-Type: application/json\r\nPrefer: return-no-content\r\nDataServiceVersion: 3.0\r\n\r\n\
                 {entity}\r\n",
                self.address,
            );
        }
        let _ = write!(body, "--{CHANGE_SET_BOUNDARY}--\r\n--{BATCH_BOUNDARY}--\r\n");
        let headers = format!("content-type: multipart/mixed; boundary={BATCH_BOUNDARY}\r\n");
        self.write(out, "POST", "$batch", "", &headers, &body);
    }

    fn write(
        &mut self,
        out: &mut Vec<u8>,
        method: &str,
        path: &str,
        query: &str,
        headers: &str,
        body: &[u8],
    ) {
        self.date.move_to(self.env.clock.now_seconds());
        let path = format!("/{ACCOUNT}/{path}");
        let date = self.date.text();
        let authorization = self.key.shared_key_lite(ACCOUNT, &path, date);
        let accept = if path.ends_with("$batch") { "multipart/mixed" } else { ACCEPT };
        // Writing to a vector cannot fail.
        let _ = write!(
            out,
            "{method} {path}{query} HTTP/1.1\r\nhost: {}\r\nx-ms-date: {date}\r\nx-ms-version: {VERSION}\r\n\
             dataserviceversion: 3.0\r\naccept: {accept}\r\nauthorization: {authorization}\r\n\
             {headers}content-length: {}\r\n\r\n",
            self.address,
            body.len(),
        );
        out.extend_from_slice(body);
    }
}

/// What comes, and that the answer need not repeat it.
const WRITE_HEADERS: &str = "prefer: return-no-content\r\ncontent-type: application/json\r\n";

/// Writes the next request of a connection: about random entities that are there, or about new ones.
pub(super) fn write_next(
    composer: &mut Composer,
    out: &mut Vec<u8>,
    case: Case,
    entities: Entities,
    random: &mut armilla_env::Random,
    new_keys: &mut NewKeys,
) {
    match case {
        Case::Insert => {
            let (partition_key, row_key, number) = new_keys.insert();
            let entity = entities.body(&partition_key, &row_key, number);
            composer.write_insert(out, WRITE_TABLE, &entity);
        }
        Case::Get => {
            let partition_key = entities.partition_key(random.index(entities.partitions));
            let row_key = entities.row_key(random.index(PARTITION_ENTITIES));
            composer.write_get(out, &partition_key, &row_key);
        }
        Case::Page1000 | Case::Page100 => {
            let partition_key = entities.partition_key(random.index(entities.partitions));
            composer.write_page(out, &partition_key, case.entities());
        }
        Case::Batch => {
            let (partition_key, number) = new_keys.batch();
            let rows = 0..BATCH_ENTITIES;
            let entity = |row| entities.body(&partition_key, &entities.row_key(row), number + row as u64);
            composer.write_batch(out, WRITE_TABLE, &rows.map(entity).collect::<Vec<_>>());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_whole() {
        let env = Env::simulated(1).0;
        let mut composer = Composer::new(&env, "127.0.0.1:10002".parse().unwrap());
        let entities = Entities::new(2, 400).unwrap();
        let (mut random, mut keys) = (armilla_env::Random::new(1), NewKeys::new(0, 0));
        for (case, start) in [
            (Case::Insert, "POST /devstoreaccount1/writes HTTP/1.1"),
            (Case::Get, "GET /devstoreaccount1/reads(PartitionKey='customer-0000"),
            (Case::Page1000, "GET /devstoreaccount1/reads()?$filter=PartitionKey%20eq%20%27customer-0000"),
            (Case::Page100, "GET /devstoreaccount1/reads()?$filter=PartitionKey%20eq%20%27customer-0000"),
            (Case::Batch, "POST /devstoreaccount1/$batch HTTP/1.1"),
        ] {
            let mut out = Vec::new();
            write_next(&mut composer, &mut out, case, entities, &mut random, &mut keys);
            let text = String::from_utf8(out).unwrap();
            assert!(text.starts_with(start), "{text}");
            assert_eq!(text.contains("$top=100"), case == Case::Page100);
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("content-length: {}", body.len())), "{head}");
            let parts = body.matches("POST http://127.0.0.1:10002/devstoreaccount1/writes HTTP/1.1").count();
            assert_eq!(parts, if case == Case::Batch { 100 } else { 0 });
        }
    }
}
