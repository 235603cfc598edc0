//! A report as one HTML file: title, sections, text, tables, figures. Nothing is loaded from elsewhere and no script runs; it follows the
//! reader's light or dark setting and prints well.

use crate::svg::escape;
use resvg::usvg::roxmltree::{Document, Node};
use std::fmt::Write;

/// A report.
///
/// ```
/// use homolog_viz::{Block, Report, Section};
/// let section = Section { heading: "Loss".into(), blocks: vec![Block::Text("Less is better.".into())] };
/// let html = Report { title: "Results".into(), introduction: String::new(), sections: vec![section] }.to_html();
/// assert!(html.contains("<h2>Loss</h2>"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Title of page and window.
    pub title: String,
    /// The text under the title; may be empty.
    pub introduction: String,
    /// The sections, in order.
    pub sections: Vec<Section>,
}

/// A section of a report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Section {
    /// Its heading.
    pub heading: String,
    /// What is in it, in order.
    pub blocks: Vec<Block>,
}

/// A part of a section. All text is plain: what looks like markup is shown as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// Fixed-width text, shown as it is: commands, settings.
    Code(String),
    /// A figure of this crate.
    Figure {
        /// What a figure's `to_svg` returned; anything that is not an SVG document is shown as text.
        svg: String,
        /// What is written under it; may be empty.
        caption: String,
    },
    /// A table. Cells that read as numbers are right-aligned.
    Table {
        /// Names of the columns.
        header: Vec<String>,
        /// The rows; short ones are padded.
        rows: Vec<Vec<String>>,
        /// What is written under it; may be empty.
        caption: String,
    },
}

const STYLE: &str = "\
:root{color-scheme:light dark;--text:#1b1f24;--soft:#57606a;--page:#f6f7f9;--card:#fff;--line:#d8dee4}\
@media(prefers-color-scheme:dark){:root{--text:#e6edf3;--soft:#9da7b1;--page:#0f1216;--card:#181c22;--line:#30363d}}\
*{box-sizing:border-box}\
body{margin:0;background:var(--page);color:var(--text);font:16px/1.55 Roboto,'Helvetica Neue',Arial,sans-serif}\
main{max-width:1020px;margin:0 auto;padding:40px 20px 80px}\
h1{font-size:30px;line-height:1.2;margin:0 0 8px;font-weight:500}\
h2{font-size:21px;margin:44px 0 10px;font-weight:500}\
p{max-width:44em;margin:10px 0}.lead{color:var(--soft);font-size:17px}\
figure{margin:18px 0;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px;overflow-x:auto}\
figure svg{display:block;max-width:100%;height:auto;margin:0 auto;border-radius:4px}\
figcaption{color:var(--soft);font-size:14px;margin:10px 4px 2px}\
table{border-collapse:collapse;font-size:14.5px;font-variant-numeric:tabular-nums;min-width:50%}\
th,td{padding:5px 12px;border-bottom:1px solid var(--line);text-align:left;white-space:nowrap}\
th{font-weight:500;color:var(--soft)}.n{text-align:right}\
pre{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px 14px;overflow-x:auto;font-size:14px}\
@media print{:root{--text:#000;--soft:#444;--page:#fff;--card:#fff;--line:#ccc}main{max-width:none;padding:0}\
h2{break-after:avoid}figure,pre,tr{break-inside:avoid}figure{overflow:visible}pre{white-space:pre-wrap}}";

impl Report {
    /// The page.
    #[must_use]
    pub fn to_html(&self) -> String {
        let title = escape(&self.title);
        let mut page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
        );
        if !self.introduction.is_empty() {
            add(&mut page, format_args!("<p class=\"lead\">{}</p>", with_code(&self.introduction)));
        }
        for section in &self.sections {
            add(&mut page, format_args!("<section>\n<h2>{}</h2>", escape(&section.heading)));
            for block in &section.blocks {
                add_block(&mut page, block);
            }
            add(&mut page, format_args!("</section>"));
        }
        page.push_str("</main>\n</body>\n</html>\n");
        page
    }
}

fn add_block(page: &mut String, block: &Block) {
    match block {
        Block::Text(text) => add(page, format_args!("<p>{}</p>", with_code(text))),
        Block::Code(text) => add(page, format_args!("<pre>{}</pre>", escape(text))),
        Block::Figure { svg, caption } => {
            let drawing =
                if is_figure(svg) { svg.trim_end().to_owned() } else { format!("<pre>{}</pre>", escape(svg)) };
            add(page, format_args!("<figure>\n{drawing}\n{}</figure>", caption_of(caption)));
        }
        Block::Table { header, rows, caption } => {
            let columns = rows.iter().map(Vec::len).chain([header.len()]).max().unwrap_or(0);
            add(page, format_args!("<figure>\n<table>\n<thead>{}</thead>\n<tbody>", row_of("th", header, columns)));
            for row in rows {
                add(page, format_args!("{}", row_of("td", row, columns)));
            }
            add(page, format_args!("</tbody>\n</table>\n{}</figure>", caption_of(caption)));
        }
    }
}

/// Text in which what is between two backticks is code.
fn with_code(text: &str) -> String {
    if text.matches('`').count() % 2 == 1 {
        return escape(text);
    }
    let parts = text.split('`').map(escape).enumerate();
    parts.map(|(n, part)| if n % 2 == 1 { format!("<code>{part}</code>") } else { part }).collect()
}

fn add(page: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(page, "{line}");
}

/// Whether the text is a figure as this crate writes them: one SVG document of shapes and text, with nothing that runs or loads.
fn is_figure(text: &str) -> bool {
    const SHAPES: [&str; 10] =
        ["svg", "title", "rect", "line", "circle", "polyline", "polygon", "path", "image", "text"];
    let harmless = |node: Node<'_, '_>| {
        SHAPES.contains(&node.tag_name().name())
            && node.attributes().all(|attribute| match attribute.name() {
                "href" => attribute.value().starts_with("data:image/png;base64,"),
                name => !name.starts_with("on"),
            })
    };
    Document::parse(text).is_ok_and(|document| {
        let mut elements = document.descendants().filter(Node::is_element);
        document.root_element().has_tag_name((SVG, "svg")) && elements.all(harmless)
    })
}

const SVG: &str = "http://www.w3.org/2000/svg";

fn caption_of(caption: &str) -> String {
    if caption.is_empty() { String::new() } else { format!("<figcaption>{}</figcaption>\n", escape(caption)) }
}

fn row_of(cell: &str, row: &[String], columns: usize) -> String {
    let mut line = String::from("<tr>");
    for k in 0..columns {
        let text = row.get(k).map_or("", String::as_str);
        let class = if k > 0 && (cell == "th" || reads_as_number(text)) { " class=\"n\"" } else { "" };
        let _ = write!(line, "<{cell}{class}>{}</{cell}>", escape(text));
    }
    line + "</tr>"
}

/// Whether a cell starts like a number: 0.5, −3, .012 (.003), 12 ms, 4e-6.
fn reads_as_number(text: &str) -> bool {
    text.trim_start_matches(['−', '-', '+', '<', '.', ' ']).starts_with(|letter: char| letter.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use resvg::usvg::roxmltree::ParsingOptions;

    const NASTY: &str = "<script>alert('&\"')</script>]]> \u{0}";

    fn figure() -> String {
        crate::LossChart { title: "time on axis, <b>".to_owned(), ..crate::LossChart::default() }.to_svg()
    }

    #[test]
    fn text_is_never_markup_and_the_page_is_well_formed() {
        let cells = vec![NASTY.to_owned(), "0.5".to_owned()];
        let blocks = vec![
            Block::Text(NASTY.to_owned()),
            Block::Code(NASTY.to_owned()),
            Block::Figure { svg: NASTY.to_owned(), caption: NASTY.to_owned() },
            Block::Figure { svg: figure(), caption: String::new() },
            Block::Table { header: cells.clone(), rows: vec![cells, Vec::new()], caption: NASTY.to_owned() },
        ];
        let sections = vec![Section { heading: NASTY.to_owned(), blocks }];
        let html = Report { title: NASTY.to_owned(), introduction: NASTY.to_owned(), sections }.to_html();
        let document =
            Document::parse_with_options(&html, ParsingOptions { allow_dtd: true, ..ParsingOptions::default() })
                .unwrap();
        assert!(!document.descendants().any(|node| node.tag_name().name() == "script"));
        let shown = document
            .descendants()
            .filter(|node| node.text().is_some_and(|text| text.starts_with("<script>alert('&\"")))
            .count();
        // Title twice, introduction, heading, text, code, figure with caption, header, cell, caption of the table; each with its text node.
        assert_eq!(shown, 2 * 11);
        assert_eq!(document.descendants().filter(|node| node.has_tag_name((SVG, "svg"))).count(), 1);
        assert_eq!(document.descendants().filter(|node| node.has_tag_name("td")).count(), 4);
    }

    #[test]
    fn code_is_between_two_backticks() {
        assert_eq!(with_code("run `a <b>`, then `c`"), "run <code>a &lt;b&gt;</code>, then <code>c</code>");
        assert_eq!(with_code("a ` alone <"), "a ` alone &lt;");
    }

    #[test]
    fn only_harmless_drawings_are_drawn() {
        assert!(is_figure(&figure()));
        for bad in [
            "",
            "<p/>",
            "<svg/>",
            r#"<svg xmlns="http://www.w3.org/2000/svg" onload="x()"/>"#,
            r#"<svg xmlns="http://www.w3.org/2000/svg"><script>x()</script></svg>"#,
            r#"<svg xmlns="http://www.w3.org/2000/svg"><image href="https://example.org/a.png"/></svg>"#,
            r#"<svg xmlns="http://www.w3.org/2000/svg"></svg><p/>"#,
        ] {
            assert!(!is_figure(bad), "{bad}");
        }
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere() {
        let html = Report { title: "t".to_owned(), ..Report::default() }.to_html();
        assert!(!html.contains("http://") && !html.contains("https://") && !html.contains("url("));
    }

    #[test]
    fn numbers_are_told_from_words() {
        assert!([".012 (.003)", "0", "−3", "12 ms", "<0.001", "- 4"].into_iter().all(reads_as_number));
        assert!(["", "linear", "−", "n/a", "quadratic 2"].into_iter().all(|text| !reads_as_number(text)));
    }
}
