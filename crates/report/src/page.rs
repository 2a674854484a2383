//! The page: one file of HTML that brings everything along.
//!
//! It holds no script, and its own content policy forbids any; nothing is fetched. It is readable without styles, from
//! top to bottom, by a screen reader, and on paper.

use crate::plot::Svg;
use crate::table::Table;
use crate::text::{clean, escape, escape_lines, escape_prose};

/// Colours by name, light and dark.
pub(crate) const COLOURS: &str = include_str!("style/colours.css");

/// How plots look, in terms of the colours.
pub(crate) const PLOT_STYLE: &str = include_str!("style/plot.css");

const PAGE_STYLE: &str = include_str!("style/page.css");

/// With fewer headings than these, a page needs no contents.
const CONTENTS_HEADINGS_MIN: usize = 3;

/// A page in the making. What is added appears in the order in which it was.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    lead: String,
    body: String,
    footer: String,
    headings: Vec<String>,
    plot_count: usize,
}

impl Page {
    /// Begins a page with its title.
    pub fn new(title: impl AsRef<str>) -> Page {
        Page {
            title: clean(title.as_ref()),
            lead: String::new(),
            body: String::new(),
            footer: String::new(),
            headings: Vec::new(),
            plot_count: 0,
        }
    }

    /// Says below the title, in a sentence or two, what the page is about.
    pub fn lead(&mut self, text: impl AsRef<str>) -> &mut Page {
        self.lead = escape_prose(text.as_ref());
        self
    }

    /// Says at the very end where the page comes from.
    pub fn footer(&mut self, text: impl AsRef<str>) -> &mut Page {
        self.footer = escape_prose(text.as_ref());
        self
    }

    /// Begins a part of the page.
    pub fn heading(&mut self, text: impl AsRef<str>) -> &mut Page {
        let text = escape(text.as_ref());
        self.headings.push(text.clone());
        let number = self.headings.len();
        self.push(&format!("<h2 id=\"part-{number}\">{text}</h2>\n"))
    }

    /// Begins a smaller part within one.
    pub fn subheading(&mut self, text: impl AsRef<str>) -> &mut Page {
        let text = escape(text.as_ref());
        self.push(&format!("<h3>{text}</h3>\n"))
    }

    /// Adds a paragraph; what stands between back-ticks is code.
    pub fn paragraph(&mut self, text: impl AsRef<str>) -> &mut Page {
        let text = escape_prose(text.as_ref());
        self.push(&format!("<p>{text}</p>\n"))
    }

    /// Adds something to be kept in mind, set off from the rest.
    pub fn note(&mut self, text: impl AsRef<str>) -> &mut Page {
        let text = escape_prose(text.as_ref());
        self.push(&format!("<p class=\"note\" role=\"note\">{text}</p>\n"))
    }

    /// Adds lines of code, or what a terminal shows.
    pub fn code(&mut self, text: impl AsRef<str>) -> &mut Page {
        let text = escape_lines(text.as_ref().trim_end());
        self.push(&format!("<pre tabindex=\"0\"><code>{text}</code></pre>\n"))
    }

    /// Adds names with their values, side by side.
    pub fn facts(&mut self, facts: &[(impl AsRef<str>, impl AsRef<str>)]) -> &mut Page {
        if facts.is_empty() {
            return self;
        }
        self.body.push_str("<dl class=\"facts\">\n");
        for (name, value) in facts {
            let (name, value) = (escape(name.as_ref()), escape(value.as_ref()));
            self.body.push_str(&format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n"));
        }
        self.push("</dl>\n")
    }

    /// Adds a table.
    pub fn table(&mut self, table: &Table) -> &mut Page {
        self.push(&table.to_html())
    }

    /// Adds a plot with a caption below it, and its figures folded away.
    pub fn plot(&mut self, caption: impl AsRef<str>, svg: &Svg) -> &mut Page {
        self.plot_count += 1;
        let drawing = svg.inline(&format!("plot-{}-", self.plot_count));
        // A part that scrolls has to be reachable by keyboard, and then needs a name.
        let name = escape(svg.title());
        self.push(&format!(
            "<figure>\n<div class=\"plot\" role=\"group\" tabindex=\"0\" aria-label=\"{name}\">\n{drawing}</div>\n"
        ));
        let caption = escape_prose(caption.as_ref());
        if !caption.is_empty() {
            self.push(&format!("<figcaption>{caption}</figcaption>\n"));
        }
        let figures = svg.data().to_html();
        self.push(&format!("<details>\n<summary>The figures</summary>\n{figures}</details>\n</figure>\n"))
    }

    /// Returns the whole document.
    pub fn render(&self) -> String {
        let Page { title, lead, body, footer, .. } = self;
        let title = escape(title);
        let wrapped = |open: &str, text: &str, close: &str| {
            if text.is_empty() { String::new() } else { format!("{open}{text}{close}\n") }
        };
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
             <style>\n{COLOURS}{PAGE_STYLE}{PLOT_STYLE}</style>\n</head>\n<body>\n<main>\n\
             <header>\n<h1>{title}</h1>\n{}{}</header>\n{body}{}</main>\n</body>\n</html>\n",
            wrapped("<p class=\"lead\">", lead, "</p>"),
            self.contents(),
            wrapped("<footer>\n<p>", footer, "</p>\n</footer>"),
        )
    }

    fn contents(&self) -> String {
        if self.headings.len() < CONTENTS_HEADINGS_MIN {
            return String::new();
        }
        let entries = self.headings.iter().enumerate();
        let entries =
            entries.map(|(place, text)| format!("<li><a href=\"#part-{}\">{text}</a></li>\n", place + 1));
        format!(
            "<nav class=\"contents\" aria-label=\"Contents\">\n<ul>\n{}</ul>\n</nav>\n",
            entries.collect::<String>()
        )
    }

    fn push(&mut self, markup: &str) -> &mut Page {
        self.body.push_str(markup);
        self
    }
}

#[cfg(test)]
mod tests;
