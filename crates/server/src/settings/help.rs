//! The texts of `armilla --help` that teach.

/// The first line.
pub(crate) const ABOUT: &str = "Armilla: the Azure Cosmos DB API on your own machine, in one program";

/// The first paragraphs of the long help.
pub(crate) const LONG_ABOUT: &str = "\
Armilla: the Azure Cosmos DB API on your own machine, in one program.

Without a command it serves the SQL (NoSQL) REST API on https://localhost:8081/, the Table API on
https://localhost:8902/, the MongoDB API on mongodb://localhost:10255/ and the Gremlin API on
wss://localhost:8901/, each without TLS on the same port as well (the first bytes decide), with its data under
./armilla-data. When everything answers it prints one line on standard output:

  armilla ready: sql=https://localhost:8081/ data=./armilla-data pid=123 start_ms=42 table=https://localhost:8902/
  mongo=mongodb://localhost:10255/ gremlin=wss://localhost:8901/

Every option can be given as a flag, as ARMILLA_... in the environment, or in a TOML file
(--config). A flag beats the environment, the environment beats the file, the file beats the default.
Relative paths start from the working folder, in the file as well.";

/// The end of the short help.
pub(crate) const AFTER_HELP: &str = "\
Examples:
  armilla                              serve ./armilla-data on localhost:8081, tables on localhost:8902
  armilla --memory --port 0            throw-away database on free ports
  armilla check --data-dir ./data      verify stored data
  armilla backup --to ./backups        copy what a running server stores, as of one moment
  armilla restore --from ./backups --data-dir ./new
  armilla partitions                   what a running server's partitions hold and serve
  armilla feed shop orders             what changes in a container, one line each
  armilla import --database shop --container orders orders.jsonl
  armilla demo blog                    a worked example: what a data model costs

`armilla --help` says more: every option, how to trust the certificate, how to connect.";

/// The end of the long help.
pub(crate) const AFTER_LONG_HELP: &str = r#"Examples:
  armilla
      Serve ./armilla-data on localhost:8081 with the well-known key of the emulators.
  armilla --memory --port 0
      A throw-away database on free ports (of the other APIs as well, unless --table-port, --mongo-port or
      --gremlin-port say otherwise);
      read them from the ready line.
  armilla --port 9000 --table-port off --mongo-port off --gremlin-port off --data-dir ./second
      A second server beside the first, without the other APIs.
  armilla --storage-table-port 10002
      Serve tables also to clients of the storage service that use UseDevelopmentStorage=true.
  ARMILLA_KEY=$(openssl rand -base64 64 | tr -d '\n') armilla --bind 0.0.0.0 --tls-name db.example
      Serve other machines: needs a key of your own, and the name they use in the certificate.
  armilla --regions 'West US 2,East US'
      An account with a second region on the next port, to try preferred locations and failing regions.
  armilla --config armilla.toml
      With a file such as:   port = 9000
                             data-dir = "/var/lib/armilla"
  armilla check --data-dir ./armilla-data
      Verify everything stored (stop the server first).
  armilla backup --to ./backups
      Copy everything the server on localhost:8081 stores, as of one moment, while it serves.
  armilla restore --from ./backups --data-dir ./new
      Make a data folder from the newest of these backups.
  armilla partitions
      Sizes, throughput and hottest keys of the physical partitions of the server on localhost:8081.
  armilla split --database shop --container orders
      Split the widest physical partition of a container while it serves.
  armilla feed shop orders --from now
      Print every item that is written from now on, one line of JSON each.
  armilla import --database shop --container orders --create /customerId orders.csv.gz
      Write the rows of a file into a container, which is made if it is not there.
  armilla demo blog
      A blog in three versions of its data model: what each operation takes and costs.

Names and web pages:
  Requests are answered at localhost, at addresses, at the names of --advertised-url, --tls-name and
  --allowed-hosts, and beyond loopback at names without a dot, such as those of services in containers. Any other
  name is refused with 403: it may be a web page that made its own name lead here.
  Requests of web pages elsewhere are refused, unless --allowed-origins or the CORS rules of the Table API let
  them in; to use @azure/cosmos in a page: --allowed-origins http://localhost:3000

Throughput:
  A container with T RU/s begins with one physical partition for every --initial-partition-ru of them (with
  autoscale, or shared by a database, for every --physical-partition-ru), and each serves an equal part in each
  second; requests beyond it are answered with 429 and the time to wait.
  Raising T beyond what the partitions can serve splits them while they serve; so does growing beyond
  --physical-partition-bytes. --throttle off meters without refusing.

The certificate:
  The self-signed certificate is kept in DATA/tls/cert.pem. Either use http://, or trust it:
    Python SDK     does not check certificates of localhost
    JavaScript     NODE_EXTRA_CA_CERTS=./armilla-data/tls/cert.pem node app.js
    Go, on Linux   SSL_CERT_FILE=./armilla-data/tls/cert.pem ./app
    Java, Spring   keytool -importcert -noprompt -alias armilla -file cert.pem -keystore trust.p12 -storepass secret
                   java -Djavax.net.ssl.trustStore=trust.p12 -Djavax.net.ssl.trustStorePassword=secret ...
      or unchecked java -DCOSMOS.EMULATOR_SERVER_CERTIFICATE_VALIDATION_DISABLED=true ...
      or http://   java -DCOSMOS.HTTP_CONNECTION_WITHOUT_TLS_ALLOWED=true ...
    .NET           as the system does, below; or unchecked, with ;DisableServerCertificateValidation=True
                   at the end of a connection string
    Debian, Ubuntu cp cert.pem /usr/local/share/ca-certificates/armilla.crt && update-ca-certificates
    macOS          security add-trusted-cert -k ~/Library/Keychains/login.keychain-db cert.pem
    Windows        certutil -user -addstore Root cert.pem
    curl           curl --cacert ./armilla-data/tls/cert.pem https://localhost:8081/health

Connecting (KEY is the account key; without --key the well-known one of the emulators):
  Python (pip install azure-cosmos)
    from azure.cosmos import CosmosClient
    client = CosmosClient("https://localhost:8081/", "KEY")
  JavaScript (npm install @azure/cosmos)
    const { CosmosClient } = require("@azure/cosmos");
    const client = new CosmosClient({ endpoint: "http://localhost:8081/", key: "KEY" });
  Rust (cargo add azure_data_cosmos --features key_auth)
    let account = AccountReference::with_authentication_key("http://localhost:8081/".parse()?, "KEY");
    let nearby = RoutingStrategy::ProximityTo(Region::from("South Central US"));
    let client = CosmosClient::builder().build(account, nearby).await?;
  Go (go get github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos)
    credential, err := azcosmos.NewKeyCredential("KEY")
    client, err := azcosmos.NewClientWithKey("http://localhost:8081/", credential, nil)
  Java (com.azure:azure-cosmos), in gateway mode, with one of the ways above to trust
    CosmosClient client = new CosmosClientBuilder()
        .endpoint("https://localhost:8081/").key("KEY").gatewayMode().buildClient();
  Spring Data (com.azure:azure-spring-data-cosmos): that builder, as a bean of an AbstractCosmosConfiguration
    @Bean CosmosClientBuilder builder() {
        return new CosmosClientBuilder().endpoint("https://localhost:8081/").key("KEY").gatewayMode(); }
  .NET (dotnet add package Microsoft.Azure.Cosmos, and Newtonsoft.Json), in gateway mode
    var options = new CosmosClientOptions { ConnectionMode = ConnectionMode.Gateway };
    var client = new CosmosClient("https://localhost:8081/", "KEY", options);
  Tables, in any language, by the connection string
    DefaultEndpointsProtocol=http;AccountName=localhost;AccountKey=KEY;TableEndpoint=http://localhost:8902/;
  A table is a container of the database TablesDB, and an entity an item in it: both APIs see the same data.

  MongoDB: any driver or shell of today, with the account's name and key as user and password:
    mongodb://localhost:<key, percent-encoded>@localhost:10255/?authSource=admin        (add &tls=true for TLS)
  A collection is a container, and a document an item in it: all APIs see the same data.

  Gremlin: any driver of TinkerPop, with the name of the graph as user and the key as password
    wss://localhost:8901/gremlin, user /dbs/<database>/colls/<graph>      (ws:// without TLS)
  A graph is a container whose partition key is one property, a vertex or an edge an item in it; make it with the
  SQL API.

Looking inside:
  On the port of the SQL API, GET /health says {"status":"ok"}, or 503 and why while the store takes no writes.
  GET /metrics gives Prometheus text to this machine, to others with Authorization: Bearer KEY.
  SIGTERM or SIGINT lets running requests finish and closes the data, all within --shutdown-timeout-ms; a second
  one stops at once."#;

/// The end of the help of `armilla split`.
pub(crate) const AFTER_SPLIT_HELP: &str = "\
Examples:
  armilla split --database shop --container orders
      Split the widest range in the middle.
  armilla split --database shop --container orders --range 1 --at 2FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF
      Split range 1 so that the second half begins with this hashed key.

`armilla partitions` shows the ranges.";

/// The end of the help of `armilla merge`.
pub(crate) const AFTER_MERGE_HELP: &str = "\
Example:
  armilla merge --database shop --container orders --ranges 1,2

`armilla partitions` shows the ranges; neighbours stand below each other.";

/// The end of the help of `armilla region`.
pub(crate) const AFTER_REGION_HELP: &str = "\
Examples:
  armilla --regions 'West US 2,East US,North Europe'
      A server with three regions, at ports 8081 to 8083.
  armilla region list
  armilla region offline 'West US 2'
      Requests at its address are answered with 503, until `armilla region online 'West US 2'`.
  armilla region write 'East US'
      East US takes the writes; at the others they are refused (403, sub status 3).

All regions serve the same data at once. With --multi-write on, each of them takes writes.";

/// The end of the help of `armilla nodes`.
pub(crate) const AFTER_NODES_HELP: &str = "\
Examples:
  armilla nodes
      Name, address, version and number of partitions of each, as the node that is asked sees them.
  armilla nodes --json --endpoint https://10.0.0.2:8081/ --cacert cert.pem

How to run several nodes: docs/cluster.md.";

/// The end of the help of `armilla drain`.
pub(crate) const AFTER_DRAIN_HELP: &str = "\
Examples:
  armilla drain
      The node at http://localhost:8081/ gives its partitions to others, and ends.
  armilla drain --node 10.0.0.2:7000
      The same of another one, asked for at any node.";

/// The end of the help of `armilla buckets`.
pub(crate) const AFTER_BUCKETS_HELP: &str = "\
Examples:
  armilla buckets --database shop --container orders 1=40 2=10
      Requests of bucket 1 may use 40 % of the container's RU/s in each second, those of bucket 2 10 %.
  armilla buckets --database shop --container orders
      Show the shares.
  armilla buckets --database shop --container orders --clear
      Take them away.

A share is the most that a bucket may use, of each physical partition; nothing is set aside for it, and shares may
add up to more than 100 %. Requests without a bucket, or of one without a share, may use everything.";

/// The end of the help of `armilla partitions`.
pub(crate) const AFTER_PARTITIONS_HELP: &str = "\
Examples:
  armilla partitions
  armilla partitions --database shop --container orders
  armilla partitions --json --endpoint https://db.example:8081 --cacert cert.pem

Columns: `from` is the start of the range of hashed keys; `used` what the last whole second cost in RU and
`refused` how many requests were answered with 429 in the last minute; `peak` the fullest second of the last
minute as a part of the provisioned RU/s; `hottest key` the logical key that cost the most in the last minute.
A partition that nobody used since the server started shows no figures.";

/// The end of the help of `armilla query`.
pub(crate) const AFTER_QUERY_HELP: &str = r#"Examples:
  armilla query shop orders 'SELECT * FROM c WHERE c.city = @city' -p @city=Utrecht
  armilla query shop orders 'SELECT VALUE COUNT(1) FROM c' --partition-key '["a"]'
  armilla query shop orders 'SELECT TOP 5 * FROM c ORDER BY c.total DESC' --explain
  armilla query shop orders 'SELECT * FROM c WHERE c.total > 100' --explain plan

With --explain the query is run to its end and its price taken apart: the lines add up to what was charged.
What the rows cost is told on standard error."#;

/// The end of the help of `armilla feed`.
pub(crate) const AFTER_FEED_HELP: &str = r#"Examples:
  armilla feed shop orders
      Every item there is, then every change as it happens, until Ctrl-C.
  armilla feed shop orders --from 2026-01-31T12:00:00Z --once | jq -r .id
      Items written since noon, up to the end.
  armilla feed shop orders --all-versions --partition-key '"Oslo"'
      Every version and every delete from now on under one partition key:
      {"current":{..},"metadata":{"operationType":"replace","lsn":7,..}}
  armilla feed shop orders --state orders.json >> orders.ndjson
      Goes on where the run before ended, however it ended. Changes come at least once:
      what was printed last may come again. --from counts until the file is there.

Without --all-versions, an item that was deleted is not shown. While nothing changes, the server
waits with its answer, so following costs next to nothing. A server that goes away is waited for;
splits and merges of partitions do not matter. A position is good for as long as the container is
there; with --all-versions, for as long as its changeFeedPolicy keeps versions."#;

/// The end of the help of `armilla import`.
pub(crate) const AFTER_IMPORT_HELP: &str = r#"Examples:
  armilla import --database shop --container orders orders.jsonl
      One item a line; an item that is there is replaced.
  zcat orders.json.gz | armilla import --database shop --container orders --create /customerId -
      From standard input, into a container that is made if it is not there.
  armilla import --database shop --container orders --id-from number --partition-key-from /customerId=customer orders.csv
      Rows of a CSV file: the column `number` becomes the id, `customer` the partition key.
  armilla import --database shop --container orders --resume orders.state --rejects bad.jsonl orders.jsonl
      Can be ended and started again at any time: it goes on behind what was written.

The format is told by the first bytes, and so is gzip. At the end the counts are told:
read = imported + rejected + skipped."#;

/// The end of the help of `armilla export`.
pub(crate) const AFTER_EXPORT_HELP: &str = r#"Examples:
  armilla export --database shop --container orders orders.jsonl
      Every item, one a line, without what the server adds (_rid, _self, _etag, _attachments, _ts).
  armilla export --database shop --container orders --gzip orders.jsonl.gz
  armilla export --database shop --container orders --query "SELECT * FROM c WHERE c.total > 100" - | jq -r .id

`armilla import` of what was exported gives the same items."#;

/// The end of the help of `armilla backup`.
pub(crate) const AFTER_BACKUP_HELP: &str = r#"Examples:
  armilla backup --to /backups/shop
      Back up the server on localhost:8081. Give ARMILLA_KEY if it has a key of its own.
  armilla backup --to /backups/shop --endpoint https://db.example:8081 --cacert cert.pem
      Back up a server elsewhere, to this machine.
  armilla backup --to /backups/shop --data-dir ./armilla-data
      Back up a data folder that no server uses.
  armilla backup verify /backups/shop
      Read every byte of every backup and compare.
  armilla backup prune /backups/shop --keep 7
      Remove all but the newest seven, and what only the others needed.

All of it is as of one moment: every write acknowledged before the command began is in it.
It takes the key that may write, because a backup holds the secret with which resource tokens are
made; so keep it as safe as the data folder. Not in it: account keys, options, and the certificate
(DATA/tls)."#;

/// The end of the help of `armilla restore`.
pub(crate) const AFTER_RESTORE_HELP: &str = r#"Examples:
  armilla restore --from /backups/shop --data-dir ./armilla-data
      The newest backup. The folder must be empty, or not there.
  armilla restore --from /backups/shop --backup 20261116T154322Z --data-dir ./of-monday
      Another one; `armilla backup list /backups/shop` names them.

A restore that is cut off leaves a folder that no server takes: empty it and restore again."#;

/// The end of the help of `armilla advise`.
pub(crate) const AFTER_ADVISE_HELP: &str = "\
Examples:
  armilla advise
  armilla advise --database blog --html advice.html --fail-on severe
  armilla advise --try-key posts:/userId
  armilla advise --try-index posts:+/type,-/creationDate
  armilla advise --try-embed posts:/userId=users:/username --try-count posts:post.commentCount=comment
  armilla advise --try-copy 'posts.post:/userId,/content<100'
  armilla advise --items posts:/postId=posts.jsonl --items users:/id=users.jsonl --requests log.jsonl

docs/modelling explains each finding, and how a file of requests is written.";
