//! How alterations are written on a command line.

use super::{Alteration, CannotAlter};

impl Alteration {
    /// Reads an option with its value, as [`Alteration::option`] writes it.
    pub fn parse_option(text: &str) -> Result<Alteration, CannotAlter> {
        let (option, value) = text.split_once(' ').unwrap_or((text, ""));
        match option {
            "--try-key" => Alteration::parse_key(value),
            "--try-index" => Alteration::parse_index(value),
            "--try-embed" => Alteration::parse_embed(value),
            "--try-count" => Alteration::parse_count(value),
            "--try-copy" => Alteration::parse_copy(value),
            "--try-newest" => Alteration::parse_newest(value),
            _ => Err(CannotAlter(format!(
                "'{option}' is nothing that can be tried: write --try-key, --try-index, --try-embed, --try-count, \
                 --try-copy or --try-newest"
            ))),
        }
    }

    /// Reads `--try-key CONTAINER:/PATH[,/PATH...]`.
    pub fn parse_key(text: &str) -> Result<Alteration, CannotAlter> {
        let (container, rest) = split(text, "CONTAINER:/PATH[,/PATH...]")?;
        Ok(Alteration::Key { container, paths: path_list(rest)? })
    }

    /// Reads `--try-index CONTAINER:+/PATH,-/PATH...` (a composite index), `CONTAINER:exclude=/PATH/?,...` or
    /// `CONTAINER:include=/PATH/?,...`.
    pub fn parse_index(text: &str) -> Result<Alteration, CannotAlter> {
        let (container, rest) =
            split(text, "CONTAINER:+/PATH,-/PATH for a composite index, or CONTAINER:exclude=/PATH/?")?;
        if let Some(paths) = rest.strip_prefix("exclude=") {
            return Ok(Alteration::Exclude { container, paths: path_list(paths)? });
        }
        if let Some(paths) = rest.strip_prefix("include=") {
            return Ok(Alteration::Include { container, paths: path_list(paths)? });
        }
        let one = |text: &str| {
            let (is_down, path) = match text.strip_prefix('-') {
                Some(path) => (true, path),
                None => (false, text.strip_prefix('+').unwrap_or(text)),
            };
            Ok((checked(path)?, is_down))
        };
        let paths: Vec<(String, bool)> = rest.split(',').map(one).collect::<Result<_, CannotAlter>>()?;
        if paths.len() < 2 {
            return Err(CannotAlter(format!(
                "'{rest}' is one path: a composite index has two or more, as in +/type,-/creationDate"
            )));
        }
        Ok(Alteration::Composite { container, paths })
    }

    /// Reads `--try-embed CONTAINER[.SORT]:/REFERENCE=SOURCE:/MEMBER[,/MEMBER...]`.
    pub fn parse_embed(text: &str) -> Result<Alteration, CannotAlter> {
        let form = "CONTAINER[.SORT]:/REFERENCE=SOURCE:/MEMBER[,/MEMBER...]";
        let (host, rest) = split(text, form)?;
        let (reference, rest) = rest.split_once('=').ok_or_else(|| not_of_form(text, form))?;
        let (source, members) = split(rest, form)?;
        let (container, entity) = sort_of(&host);
        Ok(Alteration::Embed {
            container,
            entity,
            reference: checked(reference)?,
            source,
            members: path_list(members)?,
        })
    }

    /// Reads `--try-count CONTAINER:SORT.MEMBER=COUNTED`.
    pub fn parse_count(text: &str) -> Result<Alteration, CannotAlter> {
        let form = "CONTAINER:SORT.MEMBER=COUNTED, as in posts:post.commentCount=comment";
        let (container, rest) = split(text, form)?;
        let (host, counted) = rest.split_once('=').ok_or_else(|| not_of_form(text, form))?;
        let (entity, member) = host.split_once('.').ok_or_else(|| not_of_form(text, form))?;
        if [entity, member, counted].iter().any(|part| part.is_empty()) {
            return Err(not_of_form(text, form));
        }
        let (entity, member) = (entity.to_owned(), member.to_owned());
        Ok(Alteration::Count { container, entity, member, counted: counted.to_owned() })
    }

    /// Reads `--try-copy CONTAINER[.SORT]:/PATH[,/TEXT<CHARACTERS...]`.
    pub fn parse_copy(text: &str) -> Result<Alteration, CannotAlter> {
        let (host, rest) = split(text, "CONTAINER[.SORT]:/PATH[,/TEXT<CHARACTERS...]")?;
        let mut parts = rest.split(',');
        let key = checked(parts.next().unwrap_or_default())?;
        let shortened = parts.map(cut).collect::<Result<_, _>>()?;
        let (container, entity) = sort_of(&host);
        Ok(Alteration::Copy { container, entity, key, shortened })
    }

    /// Reads `--try-newest CONTAINER.SORT:/PATH,COUNT[,/TEXT<CHARACTERS...]`.
    pub fn parse_newest(text: &str) -> Result<Alteration, CannotAlter> {
        let form = "CONTAINER.SORT:/PATH,COUNT[,/TEXT<CHARACTERS...]";
        let (host, rest) = split(text, form)?;
        let (container, entity) = sort_of(&host);
        let entity = entity.ok_or_else(|| not_of_form(text, form))?;
        let mut parts = rest.split(',');
        let order = checked(parts.next().unwrap_or_default())?;
        let count = parts.next().and_then(|count| count.parse().ok()).filter(|count| *count > 0);
        let count = count.ok_or_else(|| not_of_form(text, form))?;
        let shortened = parts.map(cut).collect::<Result<_, _>>()?;
        Ok(Alteration::Newest { container, entity, order, count, shortened })
    }

    /// Returns the option and its value that ask for this.
    pub fn option(&self) -> String {
        let with_sort = |container: &str, entity: &Option<String>| match entity {
            Some(entity) => format!("{container}.{entity}"),
            None => container.to_owned(),
        };
        let cuts = |shortened: &[(String, usize)]| {
            shortened.iter().map(|(path, characters)| format!(",{path}<{characters}")).collect::<String>()
        };
        match self {
            Alteration::Key { container, paths } => format!("--try-key {container}:{}", paths.join(",")),
            Alteration::Composite { container, paths } => {
                let one =
                    |(path, is_down): &(String, bool)| format!("{}{path}", if *is_down { '-' } else { '+' });
                let paths: Vec<String> = paths.iter().map(one).collect();
                format!("--try-index {container}:{}", paths.join(","))
            }
            Alteration::Exclude { container, paths } => {
                format!("--try-index {container}:exclude={}", paths.join(","))
            }
            Alteration::Include { container, paths } => {
                format!("--try-index {container}:include={}", paths.join(","))
            }
            Alteration::Embed { container, entity, reference, source, members } => {
                let host = with_sort(container, entity);
                format!("--try-embed {host}:{reference}={source}:{}", members.join(","))
            }
            Alteration::Count { container, entity, member, counted } => {
                format!("--try-count {container}:{entity}.{member}={counted}")
            }
            Alteration::Copy { container, entity, key, shortened } => {
                format!("--try-copy {}:{key}{}", with_sort(container, entity), cuts(shortened))
            }
            // It is not the data model that would change.
            Alteration::PointRead { .. } => String::new(),
            Alteration::Newest { container, entity, order, count, shortened } => {
                format!("--try-newest {container}.{entity}:{order},{count}{}", cuts(shortened))
            }
        }
    }
}

fn not_of_form(text: &str, form: &str) -> CannotAlter {
    CannotAlter(format!("'{text}' is not of the form {form}"))
}

fn split<'t>(text: &'t str, form: &str) -> Result<(String, &'t str), CannotAlter> {
    match text.split_once(':') {
        Some((container, rest)) if !container.is_empty() && !rest.is_empty() => {
            Ok((container.to_owned(), rest))
        }
        _ => Err(not_of_form(text, form)),
    }
}

fn sort_of(host: &str) -> (String, Option<String>) {
    match host.rsplit_once('.') {
        Some((container, entity)) if !container.is_empty() && !entity.is_empty() => {
            (container.to_owned(), Some(entity.to_owned()))
        }
        _ => (host.to_owned(), None),
    }
}

fn path_list(text: &str) -> Result<Vec<String>, CannotAlter> {
    text.split(',').map(checked).collect()
}

fn checked(path: &str) -> Result<String, CannotAlter> {
    match path.starts_with('/') && path.len() > 1 {
        true => Ok(path.to_owned()),
        false => {
            Err(CannotAlter(format!("'{path}' is not a path: paths begin with a slash, as /userId does")))
        }
    }
}

fn cut(text: &str) -> Result<(String, usize), CannotAlter> {
    let parts = text.split_once('<').and_then(|(path, characters)| Some((path, characters.parse().ok()?)));
    let (path, characters) = parts
        .ok_or_else(|| CannotAlter(format!("'{text}' does not say what is shortened: write /content<100")))?;
    Ok((checked(path)?, characters))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Parse = fn(&str) -> Result<Alteration, CannotAlter>;

    #[test]
    fn what_is_written_is_read_and_written_again() {
        let rows: [(Parse, &str, &str); 8] = [
            (Alteration::parse_key, "--try-key", "posts:/userId,/id"),
            (Alteration::parse_index, "--try-index", "blog/posts:+/type,-/creationDate"),
            (Alteration::parse_index, "--try-index", "posts:exclude=/content/?,/title/?"),
            (Alteration::parse_index, "--try-index", "posts:include=/content/?"),
            (Alteration::parse_embed, "--try-embed", "posts.post:/userId=users:/username"),
            (Alteration::parse_count, "--try-count", "posts:post.commentCount=comment"),
            (Alteration::parse_copy, "--try-copy", "posts.post:/userId,/content<100"),
            (Alteration::parse_newest, "--try-newest", "posts.post:/creationDate,100,/content<100"),
        ];
        for (parse, option, text) in rows {
            let alteration = parse(text).unwrap();
            assert_eq!(alteration.option(), format!("{option} {text}"));
            assert_eq!(Alteration::parse_option(&alteration.option()), Ok(alteration));
        }
    }

    #[test]
    fn what_says_nothing_is_refused_with_what_it_should_be() {
        let rows: [(Parse, &str, &str); 7] = [
            (Alteration::parse_key, "posts", "CONTAINER:/PATH"),
            (Alteration::parse_key, "posts:userId", "paths begin with a slash"),
            (Alteration::parse_index, "posts:/a", "two or more"),
            (Alteration::parse_embed, "posts:/userId", "/REFERENCE=SOURCE"),
            (Alteration::parse_count, "posts:commentCount=comment", "SORT.MEMBER"),
            (Alteration::parse_copy, "posts:/userId,/content", "/content<100"),
            (Alteration::parse_newest, "posts:/date,100", "CONTAINER.SORT"),
        ];
        for (parse, text, message) in rows {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
