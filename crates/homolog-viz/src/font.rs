//! The embedded font: its bytes for drawing PNG files, and the width of a text in it for laying out labels.

use skrifa::{FontRef, MetadataProvider, instance::LocationRef, instance::Size};

/// The font of running text.
pub(crate) const REGULAR: &[u8] = include_bytes!("../assets/Roboto-Regular.ttf");
/// The font of titles.
pub(crate) const MEDIUM: &[u8] = include_bytes!("../assets/Roboto-Medium.ttf");
/// What an SVG file asks for; a browser without Roboto uses a font with similar widths.
pub(crate) const FAMILY: &str = "Roboto, 'Helvetica Neue', Arial, sans-serif";

/// Weight of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Medium,
}

/// Width of a text in pixels at a font size. Characters that the font lacks count as its widest letter.
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let data = if weight == Weight::Medium { MEDIUM } else { REGULAR };
    // At one pixel per em, so the size can stay a double.
    let Ok(font) = FontRef::new(data) else { return text.chars().count() as f64 * size };
    let (letters, metrics) = (font.charmap(), font.glyph_metrics(Size::new(1.0), LocationRef::default()));
    let advance = |letter: char| letters.map(letter).and_then(|glyph| metrics.advance_width(glyph));
    text.chars().map(|letter| advance(letter).map_or(1.0, f64::from)).sum::<f64>() * size
}

/// The text, shortened with an ellipsis if it is wider than `room`.
pub(crate) fn fit(text: &str, size: f64, weight: Weight, room: f64) -> String {
    if width(text, size, weight) <= room {
        return text.to_owned();
    }
    let room = room - width("…", size, weight);
    let mut used = 0.0;
    let mut short: String = text
        .chars()
        .take_while(|letter| {
            used += width(letter.encode_utf8(&mut [0; 4]), size, weight);
            used <= room
        })
        .collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_add_up_and_scale() {
        let ab = width("ab", 12.0, Weight::Regular);
        let sum = width("a", 12.0, Weight::Regular) + width("b", 12.0, Weight::Regular);
        assert!((ab - sum).abs() < 1e-9 && ab > 8.0 && ab < 20.0, "{ab}");
        assert!((width("ab", 24.0, Weight::Regular) - 2.0 * ab).abs() < 1e-9);
        assert!(width("iii", 12.0, Weight::Regular) < width("mmm", 12.0, Weight::Regular));
        assert_eq!(width("", 12.0, Weight::Medium), 0.0);
    }

    #[test]
    fn the_signs_we_write_are_in_the_font() {
        for data in [REGULAR, MEDIUM] {
            let font = FontRef::new(data).unwrap();
            for letter in "λΔσεµμ−×±≤≥·…–—°²⁻⁰¹²³⁴⁵⁶⁷⁸⁹".chars() {
                assert!(font.charmap().map(letter).is_some(), "{letter}");
            }
        }
    }

    #[test]
    fn long_text_is_shortened_to_its_room() {
        let long = "a very long label that no one can read in a legend";
        let short = fit(long, 12.0, Weight::Regular, 100.0);
        assert!(short.ends_with('…') && width(&short, 12.0, Weight::Regular) <= 100.0);
        assert_eq!(fit("short", 12.0, Weight::Regular, 100.0), "short");
        assert_eq!(fit(long, 12.0, Weight::Regular, -5.0), "…");
    }
}
