//! Which handler serves which address.

use crate::batches;
use crate::changes::Change;
use crate::entities;
use crate::failure::{Failure, Kind};
use crate::headers::{self, Verb};
use crate::path::Address;
use crate::queries;
use crate::request::Request;
use crate::response::Reply;
use crate::service;
use crate::tables;

/// Serves a request.
pub(crate) async fn serve(request: &Request<'_>, address: Address) -> Result<Reply, Failure> {
    if let Some(component) = &request.parameters.component {
        return match (&address, component.as_str()) {
            (Address::Service, _) => service::serve(request).await,
            (Address::Entities(table), "acl") => service::policies(request, table).await,
            _ => Err(Kind::ComponentInvalid.into()),
        };
    }
    match (address, request.verb) {
        (Address::Service, _) => Err(Kind::UrlInvalid.into()),
        (Address::Batch, Verb::Post) => batches::execute(request).await,
        (Address::Batch, _) => Err(Kind::MethodNotAllowed("POST").into()),
        (Address::Tables, Verb::Get) => tables::list(request),
        (Address::Tables, Verb::Post) => tables::create(request).await,
        (Address::Tables, _) => Err(Kind::MethodNotAllowed("GET, POST").into()),
        (Address::Table(name), Verb::Get) => tables::get(request, &name),
        (Address::Table(name), Verb::Delete) => tables::delete(request, &name).await,
        (Address::Table(_), _) => Err(Kind::MethodNotAllowed("GET, DELETE").into()),
        (Address::Beyond(table), verb) => {
            // A storage account looks at the table first, and then finds that the rest does not fit.
            if verb == Verb::Post {
                headers::check_json_body(request.headers)?;
            }
            request.table(&table)?;
            Err(if verb == Verb::Post { Kind::KeysMissing } else { Kind::KeyCount }.into())
        }
        (address, Verb::Get) => read(request, address).await,
        (address, verb) => {
            let flavour = request.flavour();
            let change = Change::read(address, verb, request.headers, &request.body, flavour)?;
            entities::write(request, change).await
        }
    }
}

/// Reads one entity, or a page of them.
pub(crate) async fn read(request: &Request<'_>, address: Address) -> Result<Reply, Failure> {
    match address {
        Address::Entity { table, partition_key, row_key } => {
            entities::get(request, &table, &partition_key, &row_key)
        }
        Address::Entities(table) => queries::query(request, &table).await,
        _ => Err(Kind::UrlInvalid.into()),
    }
}
