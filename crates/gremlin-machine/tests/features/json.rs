//! The little of JSON that maps in results and files of graphs need.

/// A value of JSON; numbers as their texts.
#[derive(Debug, Clone)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
}

impl Json {
    /// Returns an entry of a map.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Map(entries) => entries.iter().find(|(other, _)| other == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Returns the entries of a map.
    pub(crate) fn entries(&self) -> &[(String, Json)] {
        match self {
            Json::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the items of a list.
    pub(crate) fn items(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            _ => &[],
        }
    }
}

/// Parses a text.
pub(crate) fn parse(text: &str) -> Result<Json, String> {
    let characters: Vec<char> = text.chars().collect();
    let mut reader = Reader { characters: &characters, at: 0 };
    let value = reader.value()?;
    reader.space();
    match reader.peek() {
        None => Ok(value),
        Some(left) => Err(format!("'{left}' after the end of JSON in {text}")),
    }
}

struct Reader<'t> {
    characters: &'t [char],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        self.space();
        match self.peek() {
            Some(found) if found == wanted => {
                self.at += 1;
                Ok(())
            }
            found => Err(format!("'{wanted}' expected at {}, found {found:?}", self.at)),
        }
    }

    /// Says whether the next is a character, and takes it then.
    fn takes(&mut self, wanted: char) -> bool {
        self.expect(wanted).is_ok()
    }

    fn value(&mut self) -> Result<Json, String> {
        self.space();
        match self.peek() {
            Some('{') => {
                self.at += 1;
                let mut entries = Vec::new();
                while !self.takes('}') {
                    if !entries.is_empty() {
                        self.expect(',')?;
                    }
                    self.expect('"')?;
                    let key = self.text()?;
                    self.expect(':')?;
                    entries.push((key, self.value()?));
                }
                Ok(Json::Map(entries))
            }
            Some('[') => {
                self.at += 1;
                let mut items = Vec::new();
                while !self.takes(']') {
                    if !items.is_empty() {
                        self.expect(',')?;
                    }
                    items.push(self.value()?);
                }
                Ok(Json::List(items))
            }
            Some('"') => {
                self.at += 1;
                Ok(Json::Text(self.text()?))
            }
            _ => {
                let from = self.at;
                while self.peek().is_some_and(|next| next.is_alphanumeric() || "+-.".contains(next)) {
                    self.at += 1;
                }
                let word: String = self.characters[from..self.at].iter().collect();
                match word.as_str() {
                    "null" => Ok(Json::Null),
                    "true" => Ok(Json::Bool(true)),
                    "false" => Ok(Json::Bool(false)),
                    "" => Err(format!("a value expected at {from}")),
                    _ => Ok(Json::Number(word)),
                }
            }
        }
    }

    /// Reads a text behind its first quote.
    fn text(&mut self) -> Result<String, String> {
        let mut text = String::new();
        while let Some(next) = self.peek() {
            self.at += 1;
            match next {
                '"' => return Ok(text),
                '\\' => {
                    let escaped = self.peek().unwrap_or('\\');
                    self.at += 1;
                    text.push(match escaped {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        'u' => {
                            let digits: String = self.characters.iter().skip(self.at).take(4).collect();
                            self.at += 4;
                            u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).unwrap_or('?')
                        }
                        other => other,
                    });
                }
                other => text.push(other),
            }
        }
        Err("a text does not end".into())
    }
}
