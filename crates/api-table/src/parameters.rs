//! The query string of a request: what it asks for beside the resource.
//!
//! Parameters of signatures are read where signatures are checked (`auth`).

use std::borrow::Cow;

use armilla_rest_wire::percent;

use crate::failure::{Failure, Kind};
use crate::limits::{
    CONTINUATION_BYTES_MAX, PAGE_DEFAULT, PAGE_MAX, QUERY_BYTES_MAX, QUERY_PARAMETERS_MAX, STORAGE_PAGE_MAX,
};
use crate::options::Flavour;

/// The parameters of a request, decoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Parameters {
    pub(crate) filter: Option<String>,
    pub(crate) select: Option<Vec<String>>,
    pub(crate) top: Option<String>,
    pub(crate) format: Option<String>,
    pub(crate) next_partition_key: Option<String>,
    pub(crate) next_table_name: Option<String>,
    pub(crate) component: Option<String>,
    pub(crate) resource_type: Option<String>,
    /// The first option that is not known.
    unknown: Option<String>,
}

impl Parameters {
    /// Reads a query string.
    pub(crate) fn parse(query: &str) -> Result<Parameters, Failure> {
        let mut parameters = Parameters::default();
        if query.len() > QUERY_BYTES_MAX {
            return Err(Kind::UrlInvalid.into());
        }
        for (position, pair) in query.split('&').filter(|pair| !pair.is_empty()).enumerate() {
            if position == QUERY_PARAMETERS_MAX {
                return Err(Kind::UrlInvalid.into());
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = percent::decode_form(name).ok_or(Kind::UrlInvalid)?;
            let value = || percent::decode_form(value).map(Cow::into_owned).ok_or(Kind::UrlInvalid);
            match &*name {
                "$filter" => parameters.filter = Some(value()?).filter(|text| !text.trim().is_empty()),
                "$select" => parameters.select = selection(&value()?),
                "$top" => parameters.top = Some(value()?),
                "$format" => parameters.format = Some(value()?),
                "NextPartitionKey" => parameters.next_partition_key = token(value()?)?,
                // It goes with the other one, which says everything.
                "NextRowKey" => {}
                "NextTableName" => parameters.next_table_name = token(value()?)?,
                "comp" => parameters.component = Some(value()?),
                "restype" => parameters.resource_type = Some(value()?),
                name if name.starts_with('$') && parameters.unknown.is_none() => {
                    parameters.unknown = Some(name.to_owned());
                }
                _ => {}
            }
        }
        Ok(parameters)
    }

    /// Refuses options that nobody would heed.
    pub(crate) fn refuse_unknown(&self) -> Result<(), Failure> {
        match &self.unknown {
            Some(name) => Err(Kind::NotImplemented(format!("the query option {name}").into()).into()),
            None => Ok(()),
        }
    }

    /// Returns how many entities or tables a page may have.
    pub(crate) fn page_size(&self, flavour: Flavour) -> Result<usize, Failure> {
        let Some(text) = &self.top else { return Ok(PAGE_DEFAULT) };
        let invalid = || {
            let message = format!("The value '{text}' of the query option $top is not a number from 1");
            Failure::from(Kind::InvalidInput(match flavour {
                Flavour::Cosmos => format!("{message}.").into(),
                Flavour::Storage => format!("{message} to {STORAGE_PAGE_MAX}.").into(),
            }))
        };
        let top: u64 = text.trim().parse().map_err(|_| invalid())?;
        let top = usize::try_from(top).unwrap_or(usize::MAX);
        if top == 0 || flavour == Flavour::Storage && top > STORAGE_PAGE_MAX {
            return Err(invalid());
        }
        Ok(top.min(PAGE_MAX))
    }
}

/// Reads the names of properties; `None` for all of them.
fn selection(text: &str) -> Option<Vec<String>> {
    let names: Vec<String> =
        text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    if names.is_empty() || names.iter().any(|name| name == "*") { None } else { Some(names) }
}

/// Takes a continuation; an empty one is none.
fn token(text: String) -> Result<Option<String>, Failure> {
    if text.len() > CONTINUATION_BYTES_MAX {
        return Err(Kind::InvalidInput("the continuation is longer than any that was given".into()).into());
    }
    Ok(Some(text).filter(|text| !text.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::Parameters;
    use crate::limits::{QUERY_BYTES_MAX, QUERY_PARAMETERS_MAX};
    use crate::options::Flavour;

    #[test]
    fn options_are_decoded() {
        let parameters = Parameters::parse(
            "$filter=a%20eq%20%27b%27&%24select=a,%20b&$top=5&NextPartitionKey=x&NextRowKey=NA&timeout=30&sig=%2B",
        )
        .unwrap();
        assert_eq!(parameters.filter.as_deref(), Some("a eq 'b'"));
        assert_eq!(parameters.select, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(parameters.next_partition_key.as_deref(), Some("x"));
        assert!(parameters.refuse_unknown().is_ok());
        assert_eq!(Parameters::parse("").unwrap(), Parameters::default());
        for all in ["$select=", "$select=*", "$filter=%20", "NextPartitionKey="] {
            assert_eq!(Parameters::parse(all).unwrap(), Parameters::default(), "{all}");
        }
    }

    #[test]
    fn unknown_options_are_not_ignored() {
        for query in ["$orderby=a", "$skip=1", "$count=true", "$expand=x"] {
            let failure = Parameters::parse(query).unwrap().refuse_unknown().unwrap_err();
            let shape = failure.shape(Flavour::Storage);
            assert_eq!((shape.status.as_u16(), &*shape.code), (501, "NotImplemented"));
            assert!(shape.message.contains(&query[..query.find('=').unwrap()]));
        }
    }

    #[test]
    fn pages_are_bounded() {
        for (top, cosmos, storage) in [
            ("", Some(1_000), Some(1_000)),
            ("$top=1", Some(1), Some(1)),
            ("$top=1000", Some(1_000), Some(1_000)),
            ("$top=1001", Some(1_001), None),
            ("$top=99999999", Some(10_000), None),
            ("$top=0", None, None),
            ("$top=-1", None, None),
            ("$top=x", None, None),
            ("$top=99999999999999999999999", None, None),
        ] {
            let parameters = Parameters::parse(top).unwrap();
            assert_eq!(parameters.page_size(Flavour::Cosmos).ok(), cosmos, "{top}");
            assert_eq!(parameters.page_size(Flavour::Storage).ok(), storage, "{top}");
        }
    }

    #[test]
    fn query_strings_are_bounded() {
        let longest = format!("a={}", "b".repeat(QUERY_BYTES_MAX - 2));
        assert!(Parameters::parse(&longest).is_ok());
        assert!(Parameters::parse(&format!("{longest}b")).is_err());
        assert!(Parameters::parse(&"a&".repeat(QUERY_PARAMETERS_MAX)).is_ok());
        assert!(Parameters::parse(&"a&".repeat(QUERY_PARAMETERS_MAX + 1)).is_err());
        assert!(Parameters::parse("$filter=%zz").is_err());
    }
}
