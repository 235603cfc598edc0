//! From SVG to PNG with the embedded font, and grey pictures as PNG for embedding. Nothing here looks for fonts or files on the system.

use crate::font;
use base64::Engine;
use resvg::{tiny_skia, usvg};
use std::sync::Arc;

/// Longest side of a PNG.
const LONGEST: f32 = 16_384.0;

/// Why there is no PNG.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not an SVG document.
    #[error("not an SVG document: {0}")]
    Svg(String),
    /// The PNG would be empty or larger than can be drawn.
    #[error("a PNG of {width} by {height} pixels cannot be drawn; each side must be from 1 to 16384")]
    Size {
        /// Pixels in a row.
        width: f32,
        /// Rows.
        height: f32,
    },
    /// The picture could not be encoded.
    #[error("the picture could not be encoded as PNG: {0}")]
    Encode(String),
}

/// Draws an SVG document as a PNG file, `scale` pixels for each unit of the document.
///
/// # Errors
/// The text is not an SVG document, or the PNG would be empty or have a side of more than 16384 pixels.
pub fn svg_to_png(svg: &str, scale: f32) -> Result<Vec<u8>, Error> {
    let mut options = usvg::Options { font_family: "Roboto".to_owned(), ..usvg::Options::default() };
    let fonts = Arc::make_mut(&mut options.fontdb);
    for data in [font::REGULAR, font::MEDIUM] {
        fonts.load_font_data(data.to_vec());
    }
    fonts.set_sans_serif_family("Roboto");
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| Error::Svg(error.to_string()))?;
    let (width, height) = ((tree.size().width() * scale).round(), (tree.size().height() * scale).round());
    if !(1.0..=LONGEST).contains(&width) || !(1.0..=LONGEST).contains(&height) {
        return Err(Error::Size { width, height });
    }
    let mut pixels = tiny_skia::Pixmap::new(whole(width), whole(height)).ok_or(Error::Size { width, height })?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| Error::Encode(error.to_string()))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number from 1 to 16384")]
fn whole(value: f32) -> u32 {
    value as u32
}

/// A grey picture to draw under points, row by row from the top left, one byte per pixel, 0 is black.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GreyPicture {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The pixels; a picture whose count is not width times height is not drawn.
    pub pixels: Vec<u8>,
}

impl GreyPicture {
    /// The picture as the text of a `data:` address; `None` if its sizes do not fit together.
    pub(crate) fn data_uri(&self) -> Option<String> {
        let png = self.to_png().ok()?;
        Some(format!("data:image/png;base64,{}", base64::engine::general_purpose::STANDARD.encode(png)))
    }

    /// The picture as a PNG file.
    ///
    /// # Errors
    /// The picture is empty, too large, or does not have width times height pixels.
    pub fn to_png(&self) -> Result<Vec<u8>, Error> {
        #[expect(clippy::cast_possible_truncation, reason = "for the message only")]
        let refused = Error::Size { width: self.width as f64 as f32, height: self.height as f64 as f32 };
        let (Ok(width), Ok(height)) = (u16::try_from(self.width), u16::try_from(self.height)) else {
            return Err(refused);
        };
        if self.pixels.is_empty() || self.pixels.len() != usize::from(width) * usize::from(height) {
            return Err(refused);
        }
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, u32::from(width), u32::from(height));
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Eight);
        let failed = |error: png::EncodingError| Error::Encode(error.to_string());
        let mut writer = encoder.write_header().map_err(failed)?;
        writer.write_image_data(&self.pixels).map_err(failed)?;
        writer.finish().map_err(failed)?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(png: &[u8]) -> (u32, u32) {
        let info = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        (info.info().width, info.info().height)
    }

    #[test]
    fn a_png_has_the_size_of_the_document_times_the_scale() {
        let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"/>"#;
        assert_eq!(size(&svg_to_png(svg, 1.0).unwrap()), (30, 20));
        assert_eq!(size(&svg_to_png(svg, 2.5).unwrap()), (75, 50));
        for scale in [0.0, -1.0, 1e9, f32::NAN, f32::INFINITY] {
            assert!(matches!(svg_to_png(svg, scale), Err(Error::Size { .. })), "{scale}");
        }
        for broken in ["", "<svg", "hello", "<html/>"] {
            assert!(matches!(svg_to_png(broken, 1.0), Err(Error::Svg(_))), "{broken}");
        }
    }

    #[test]
    fn text_is_drawn_with_the_embedded_font() {
        let page = |text: &str| {
            let mut canvas = crate::svg::Canvas::new(60.0, 20.0, "");
            canvas.text((2.0, 15.0), crate::svg::Anchor::Start, crate::svg::LABEL, text);
            svg_to_png(&canvas.finish(), 1.0).unwrap()
        };
        assert_ne!(page("loss λ"), page(""));
        assert_ne!(page("loss λ"), page("loss µ"));
    }

    #[test]
    fn grey_pictures_keep_every_pixel() {
        let picture = GreyPicture { width: 3, height: 2, pixels: vec![0, 50, 100, 150, 200, 255] };
        let mut reader = png::Decoder::new(std::io::Cursor::new(picture.to_png().unwrap())).read_info().unwrap();
        let mut read = vec![0; 6];
        reader.next_frame(&mut read).unwrap();
        assert_eq!(read, picture.pixels);
        assert!(picture.data_uri().unwrap().starts_with("data:image/png;base64,"));
        for (width, height) in [(0, 0), (3, 3), (usize::MAX, 2)] {
            assert_eq!(GreyPicture { width, height, pixels: vec![0; 6] }.data_uri(), None);
        }
    }
}
