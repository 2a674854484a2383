//! The token of SASL PLAIN.

use crate::WireError;

/// Who logs in.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// On whose behalf; clients leave it empty.
    pub authorization: String,
    /// The user: `/dbs/<database>/colls/<graph>`.
    pub user: String,
    /// The key of the account, or a resource token.
    pub password: String,
}

impl std::fmt::Debug for Login {
    /// Leaves the password out, so that no log has it.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Reads a token of SASL PLAIN: three texts with a zero byte between them.
pub fn read_login(token: &[u8]) -> Result<Login, WireError> {
    let wrong = || {
        WireError::arguments(
            "The SASL token is not of PLAIN: send authorization, user and password with a zero byte between them.",
        )
    };
    let text = std::str::from_utf8(token).map_err(|_| wrong())?;
    let mut parts = text.split('\0');
    let mut next = || parts.next().map(str::to_owned).ok_or_else(wrong);
    let login = Login { authorization: next()?, user: next()?, password: next()? };
    if parts.next().is_some() || login.user.is_empty() {
        return Err(wrong());
    }
    Ok(login)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read() {
        let login = read_login(b"\0/dbs/d/colls/g\0key==").unwrap();
        assert_eq!((&*login.authorization, &*login.user, &*login.password), ("", "/dbs/d/colls/g", "key=="));
        assert_eq!(format!("{login:?}"), "Login { user: \"/dbs/d/colls/g\", .. }");
        assert_eq!(read_login(b"a\0u\0").unwrap().password, "");
    }

    #[test]
    fn other_tokens_are_refused() {
        for token in [&b""[..], b"user", b"\0user", b"\0\0password", b"\0a\0b\0c", b"\0\xff\0b"] {
            assert_eq!(read_login(token).unwrap_err().code(), 499);
        }
    }
}
