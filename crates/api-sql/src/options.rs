//! What the API can be told.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use armilla_rest_wire::authorization::AccountKeys;
use armilla_rest_wire::authorization::open_id::OpenId;
use armilla_rest_wire::regions::Regions;
use armilla_rest_wire::signature::KeyError;

use crate::limits::DATE_SKEW_DEFAULT;

/// Who puts together the results of a query that several physical partitions answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CrossPartitionQueries {
    /// The server: every query is answered.
    #[default]
    Merge,
    /// The client, as with the service: it is refused with the plan that it needs (400/1004).
    Plan,
}

/// How the account presents itself, and which callers it believes.
#[derive(Clone)]
pub struct SqlApiOptions {
    /// The key that permits everything, in base64.
    pub primary_key: String,
    /// Another key that permits everything, in base64.
    pub secondary_key: Option<String>,
    /// Keys that permit reading, in base64.
    pub read_only_keys: Vec<String>,
    /// How far the date of a signature may lie from the server's clock.
    pub date_skew: Duration,
    /// The account's id. Not `localhost`: the JavaScript client would then forget the account's locations.
    pub account_id: String,
    /// The address that clients are told to use, if not the one by which they came.
    pub advertised_url: Option<String>,
    /// The account's regions.
    pub regions: Arc<Regions>,
    /// Whether requests need a signature or token at all.
    pub require_auth: bool,
    /// Who is believed beside those who have a key, if others are.
    pub open_id: Option<Arc<OpenId>>,
    /// Who puts together the results of a query that several physical partitions answer.
    pub cross_partition_queries: CrossPartitionQueries,
}

impl SqlApiOptions {
    /// Returns the defaults with a primary key.
    pub fn new(primary_key: impl Into<String>) -> SqlApiOptions {
        SqlApiOptions {
            primary_key: primary_key.into(),
            secondary_key: None,
            read_only_keys: Vec::new(),
            date_skew: DATE_SKEW_DEFAULT,
            account_id: "armilla".to_owned(),
            advertised_url: None,
            regions: Arc::new(Regions::new("South Central US", Vec::new(), false)),
            require_auth: true,
            open_id: None,
            cross_partition_queries: CrossPartitionQueries::default(),
        }
    }

    /// Checks the options and prepares the keys.
    pub(crate) fn check(&self) -> Result<AccountKeys, OptionsError> {
        if self.account_id.is_empty() || self.account_id.eq_ignore_ascii_case("localhost") {
            return Err(OptionsError::AccountId);
        }
        if let Some(url) = &self.advertised_url {
            let uri: http::Uri = url.parse().map_err(|_| OptionsError::AdvertisedUrl)?;
            let is_address = matches!(uri.scheme_str(), Some("http" | "https"))
                && uri.authority().is_some()
                && uri.path() == "/"
                && uri.query().is_none();
            if !is_address {
                return Err(OptionsError::AdvertisedUrl);
            }
        }
        let read_write = std::iter::once(&self.primary_key).chain(&self.secondary_key);
        AccountKeys::new(read_write.map(String::as_str), self.read_only_keys.iter().map(String::as_str))
            .map_err(|_: KeyError| OptionsError::Key)
    }
}

/// Keys are not shown.
impl fmt::Debug for SqlApiOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlApiOptions")
            .field("account_id", &self.account_id)
            .field("advertised_url", &self.advertised_url)
            .field("regions", &self.regions)
            .field("date_skew", &self.date_skew)
            .field("require_auth", &self.require_auth)
            .field("cross_partition_queries", &self.cross_partition_queries)
            .finish_non_exhaustive()
    }
}

/// Why the API cannot start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionsError {
    /// A key is not base64, or is empty.
    Key,
    /// The account id is empty or `localhost`.
    AccountId,
    /// The advertised address is not of the form `https://host:port/`.
    AdvertisedUrl,
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OptionsError::Key => "an account key is not base64, or is empty",
            OptionsError::AccountId => "the account id must not be empty or 'localhost'",
            OptionsError::AdvertisedUrl => "the advertised url is not of the form https://host:port/",
        })
    }
}

impl std::error::Error for OptionsError {}

#[cfg(test)]
mod tests {
    use super::{OptionsError, SqlApiOptions};

    #[test]
    fn options_are_checked() {
        let with = |change: fn(&mut SqlApiOptions)| {
            let mut options = SqlApiOptions::new("AAAA");
            change(&mut options);
            options.check().err()
        };
        assert_eq!(with(|_| {}), None);
        assert_eq!(with(|options| options.primary_key = "?".into()), Some(OptionsError::Key));
        assert_eq!(with(|options| options.primary_key = String::new()), Some(OptionsError::Key));
        assert_eq!(with(|options| options.secondary_key = Some("?".into())), Some(OptionsError::Key));
        assert_eq!(with(|options| options.read_only_keys.push("?".into())), Some(OptionsError::Key));
        assert_eq!(with(|options| options.account_id = "Localhost".into()), Some(OptionsError::AccountId));
        assert_eq!(with(|options| options.account_id = String::new()), Some(OptionsError::AccountId));
        for good in ["https://db.example", "http://db:8081/", "https://[::1]:1/"] {
            let mut options = SqlApiOptions::new("AAAA");
            options.advertised_url = Some(good.into());
            assert_eq!(options.check().err(), None, "{good}");
        }
        for bad in ["", "db.example", "/", "ftp://db/", "https://db/path", "https://db/?q", "https://"] {
            let mut options = SqlApiOptions::new("AAAA");
            options.advertised_url = Some(bad.into());
            assert_eq!(options.check().err(), Some(OptionsError::AdvertisedUrl), "{bad}");
        }
    }

    #[test]
    fn keys_are_not_shown() {
        assert!(!format!("{:?}", SqlApiOptions::new("c2VjcmV0")).contains("c2VjcmV0"));
    }
}
