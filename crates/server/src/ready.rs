//! What the server says when it is ready.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};

use crate::options::LogFormat;
use crate::settings::{Certificate, Data, Settings};

/// Writes the one line on standard output that programs wait for.
pub(crate) fn write_ready_line(address: SocketAddr, data: &Data, start_ms: u128) {
    let line = format!(
        "armilla ready: sql={} data={} pid={} start_ms={start_ms}\n",
        url(address),
        data_name(data),
        std::process::id(),
    );
    let mut out = std::io::stdout().lock();
    // Whoever started us may not listen; that is no reason to stop.
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}

/// Tells people, on standard error, which key is in use and how to trust the certificate.
pub(crate) fn write_hints(settings: &Settings, address: SocketAddr) {
    let hints = hints(settings, address);
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

fn hints(settings: &Settings, address: SocketAddr) -> Vec<String> {
    let secure = url(address);
    let plain = secure.replacen("https", "http", 1);
    let mut hints = vec![format!("SQL API   {secure}  or  {plain}")];
    hints.push(if settings.uses_well_known_key() {
        format!("key       {} (the emulators' well-known key)", settings.key)
    } else {
        "key       as given with --key or ARMILLA_KEY".to_string()
    });
    hints.push(match (&settings.certificate, &settings.data) {
        (Certificate::Files { certificate, .. }, _) => format!("TLS       {}", certificate.display()),
        (Certificate::SelfSigned { .. }, Data::Folder(folder)) => {
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

/// Returns the address as clients on this machine write it.
fn url(address: SocketAddr) -> String {
    let port = address.port();
    match address.ip() {
        IpAddr::V4(ip) if ip.is_loopback() || ip.is_unspecified() => format!("https://localhost:{port}/"),
        IpAddr::V6(ip) if ip.is_loopback() || ip.is_unspecified() => format!("https://localhost:{port}/"),
        _ => format!("https://{address}/"),
    }
}

/// Returns where data lies, without white space, which separates the fields of the line.
fn data_name(data: &Data) -> String {
    let folder = match data {
        Data::Memory => return "memory".to_string(),
        Data::Folder(folder) => folder.to_string_lossy(),
    };
    let mut name = String::with_capacity(folder.len());
    for character in folder.chars() {
        if character.is_whitespace() || character.is_control() || character == '%' {
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(name, "%{byte:02X}");
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
