//! Flags, environment, file: one precedence.

use std::fs;

use crate::process::{Server, failure_line, run};

#[test]
fn flag_beats_environment_beats_file_beats_default() {
    // What is set where, and which data folder the server then has.
    for (flag, variable, file, expected) in [
        (None, None, None, "./armilla-data"),
        (None, None, Some("of-file"), "of-file"),
        (None, Some("of-environment"), Some("of-file"), "of-environment"),
        (Some("of-flag"), Some("of-environment"), Some("of-file"), "of-flag"),
        (Some("of-flag"), None, None, "of-flag"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut arguments = vec!["--port", "0"];
        if let Some(name) = file {
            let text = format!("# ours\nport = 1\ndata-dir = \"{name}\"\n");
            fs::write(folder.path().join("armilla.toml"), text).unwrap();
            arguments.extend(["--config", "armilla.toml"]);
        }
        if let Some(name) = flag {
            arguments.extend(["--data-dir", name]);
        }
        let server = Server::start_in(folder, &arguments, |command| {
            if let Some(name) = variable {
                command.env("ARMILLA_DATA_DIR", name);
            }
        });
        assert_eq!(server.ready_value("data"), expected);
        assert!(server.folder().join(expected).join("FORMAT").exists());
    }
}

#[test]
fn everything_may_come_from_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.toml"), "memory = false\n").unwrap();
    let server = Server::start_in(folder, &["--config", "a.toml"], |command| {
        command.env("ARMILLA_PORT", "0").env("ARMILLA_MEMORY", "yes").env("ARMILLA_LOG_FORMAT", "json");
    });
    assert_eq!(server.ready_value("data"), "memory");
    for line in server.log().lines() {
        assert!(line.starts_with('{') && line.ends_with('}'), "{line}");
    }
}

#[test]
fn mistakes_in_the_file_are_pointed_at() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("armilla.toml");
    let name = path.display().to_string();
    for (text, words) in [
        ("port = 0\nprot = 1\n", &["line 2", "`prot`"][..]),
        ("port = \"many\"\n", &["line 1", "port"]),
        ("port = 0\n\nkey = \"%\"\n", &["--key is not base64"]),
        ("consistency = \"perfect\"", &["--consistency", "perfect"]),
        ("log-level = \"armilla=loud\"\nmemory = true\n", &["--log-level"]),
        ("advertised-url = \"nowhere\"\nmemory = true\nport = 0\n", &["advertised url"]),
    ] {
        fs::write(&path, text).unwrap();
        let line = failure_line(&run(&["--config", &name]));
        for word in words {
            assert!(line.contains(word), "{text:?}: {line}");
        }
    }
    let line = failure_line(&run(&["--config", "/nowhere/armilla.toml"]));
    assert!(line.contains("/nowhere/armilla.toml"), "{line}");
}
