//! A small SVG writer: elements are appended as text in drawing order.
//!
//! Everything that could break a document is handled here once: text is escaped and stripped of characters that XML does not allow,
//! numbers are written with at most two decimals and are never NaN or infinite. No element has an id, so many figures can be in
//! one HTML page.

use crate::font::{FAMILY, Weight};
use std::fmt::Write;

/// Where a text's x coordinate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text's look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Font {
    pub(crate) size: f64,
    pub(crate) weight: Weight,
    pub(crate) color: &'static str,
}

/// Titles, axis labels and small print.
pub(crate) const TITLE: Font = Font { size: 16.0, weight: Weight::Medium, color: "#1b1f24" };
pub(crate) const LABEL: Font = Font { size: 13.0, weight: Weight::Regular, color: "#30363d" };
pub(crate) const SMALL: Font = Font { size: 12.0, weight: Weight::Regular, color: "#57606a" };
/// The head of a part of a figure.
pub(crate) const HEAD: Font = Font { size: 13.0, weight: Weight::Medium, color: "#30363d" };

/// A document being written.
pub(crate) struct Canvas {
    width: f64,
    height: f64,
    title: String,
    body: String,
}

impl Canvas {
    /// An empty white page. The title is for screen readers and tooltips; it is not drawn.
    pub(crate) fn new(width: f64, height: f64, title: &str) -> Self {
        Self { width, height, title: title.to_owned(), body: String::new() }
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), style: &str) {
        self.element(format_args!(
            r#"<line x1="{}" y1="{}" x2="{}" y2="{}" {style}/>"#,
            number(from.0),
            number(from.1),
            number(to.0),
            number(to.1)
        ));
    }

    pub(crate) fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), style: &str) {
        let (width, height) = (number(width.max(0.0)), number(height.max(0.0)));
        self.element(format_args!(
            r#"<rect x="{}" y="{}" width="{width}" height="{height}" {style}/>"#,
            number(x),
            number(y)
        ));
    }

    pub(crate) fn circle(&mut self, (x, y): (f64, f64), radius: f64, style: &str) {
        self.element(format_args!(r#"<circle cx="{}" cy="{}" r="{}" {style}/>"#, number(x), number(y), number(radius)));
    }

    /// An open line through points; nothing for fewer than two.
    pub(crate) fn polyline(&mut self, points: &[(f64, f64)], style: &str) {
        if points.len() > 1 {
            self.element(format_args!(r#"<polyline points="{}" fill="none" {style}/>"#, coordinates(points)));
        }
    }

    /// A closed, filled shape; nothing for fewer than three corners.
    pub(crate) fn polygon(&mut self, points: &[(f64, f64)], style: &str) {
        if points.len() > 2 {
            self.element(format_args!(r#"<polygon points="{}" {style}/>"#, coordinates(points)));
        }
    }

    /// Path data as given; build it with [`number`].
    pub(crate) fn path(&mut self, data: &str, style: &str) {
        self.element(format_args!(r#"<path d="{data}" {style}/>"#));
    }

    /// A PNG stretched over a rectangle.
    pub(crate) fn image(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), data_uri: &str) {
        let (x, y, width, height) = (number(x), number(y), number(width), number(height));
        self.element(format_args!(
            r#"<image x="{x}" y="{y}" width="{width}" height="{height}" preserveAspectRatio="none" href="{data_uri}"/>"#
        ));
    }

    /// A text with its baseline at y.
    pub(crate) fn text(&mut self, at: (f64, f64), anchor: Anchor, font: Font, content: &str) {
        self.text_with(at, anchor, font, "", content);
    }

    /// A text that reads upwards.
    pub(crate) fn text_upwards(&mut self, at: (f64, f64), font: Font, content: &str) {
        let turn = format!(r#" transform="rotate(-90 {} {})""#, number(at.0), number(at.1));
        self.text_with(at, Anchor::Middle, font, &turn, content);
    }

    /// A text with an outline in the colour of the background, readable over lines and pictures.
    pub(crate) fn text_on_lines(&mut self, at: (f64, f64), anchor: Anchor, font: Font, ground: &str, content: &str) {
        let rim = format!(r#" stroke="{ground}" stroke-width="3.5" stroke-linejoin="round" paint-order="stroke""#);
        self.text_with(at, anchor, font, &rim, content);
    }

    fn text_with(&mut self, (x, y): (f64, f64), anchor: Anchor, font: Font, more: &str, content: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        let weight = if font.weight == Weight::Medium { r#" font-weight="500""# } else { "" };
        let (x, y, size, color) = (number(x), number(y), number(font.size), font.color);
        self.element(format_args!(
            r#"<text x="{x}" y="{y}" font-size="{size}"{weight}{anchor} fill="{color}"{more}>{}</text>"#,
            escape(content)
        ));
    }

    fn element(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "{element}");
    }

    /// The finished document, with this height.
    pub(crate) fn finish_at(self, height: f64) -> String {
        Self { height, ..self }.finish()
    }

    /// The finished document.
    pub(crate) fn finish(self) -> String {
        let (width, height, title) = (number(self.width), number(self.height), escape(&self.title));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"{FAMILY}\" role=\"img\">\n<title>{title}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n{}</svg>\n",
            self.body
        )
    }
}

/// A coordinate: at most two decimals, no exponent; NaN becomes 0 and what is far off the page is clamped, since figures only
/// pass finite values and a broken document is worse than a misplaced line.
pub(crate) fn number(value: f64) -> String {
    let value = if value.is_nan() { 0.0 } else { value.clamp(-1e6, 1e6) };
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn coordinates(points: &[(f64, f64)]) -> String {
    points.iter().map(|&(x, y)| format!("{},{}", number(x), number(y))).collect::<Vec<_>>().join(" ")
}

/// Text for element content and attribute values, in SVG and HTML. Characters that XML 1.0 forbids become U+FFFD.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(letter),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ if letter.is_control() => escaped.push('\u{fffd}'),
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_always_numbers() {
        let cases = [(1.0, "1"), (0.125, "0.12"), (-0.001, "0"), (10.5, "10.5"), (100.0, "100"), (f64::NAN, "0")];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
        assert_eq!(number(f64::INFINITY), "1000000");
        assert_eq!(number(-1e300), "-1000000");
    }

    #[test]
    fn any_text_gives_a_document_that_reads_back() {
        let nasty = "<script>&\"']]> \u{0}\u{1b}[31m\u{ffff} λ 漢 \r\n--";
        let mut canvas = Canvas::new(10.0, 10.0, nasty);
        canvas.text((1.0, 2.0), Anchor::Middle, LABEL, nasty);
        let svg = canvas.finish();
        let document = resvg::usvg::roxmltree::Document::parse(&svg).unwrap();
        let text = document.descendants().find(|node| node.has_tag_name("text")).unwrap();
        assert_eq!(text.text().unwrap().replace('\n', ""), "<script>&\"']]> \u{fffd}\u{fffd}[31m\u{fffd} λ 漢 --");
        assert!(!document.descendants().any(|node| node.has_tag_name("script")));
    }
}
