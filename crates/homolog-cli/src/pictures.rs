//! Pictures: PNG and JPEG files as grey images of eight bits.

use crate::{files, panics};
use anyhow::{Context, Result};
use homolog_viz::GreyPicture;
use image::{ImageReader, Limits};
use std::io::Cursor;
use std::path::Path;

/// No picture is wider or higher than this, in pixels.
const LONGEST_SIDE: u32 = 16_384;
/// Decoding takes no more memory than this, in bytes.
const MOST_MEMORY: u64 = 1 << 30;

/// Reads a PNG or JPEG file of any depth and colour; what shines through is seen on black.
pub(crate) fn read(path: &Path) -> Result<GreyPicture> {
    let bytes = files::read(path)?;
    // A decoder that meets what it did not expect may panic.
    panics::contained("the decoder gave up", || decode(&bytes))
        .with_context(|| format!("cannot read the picture {}", path.display()))
}

fn decode(bytes: &[u8]) -> Result<GreyPicture> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(LONGEST_SIDE);
    limits.max_image_height = Some(LONGEST_SIDE);
    limits.max_alloc = Some(MOST_MEMORY);
    reader.limits(limits);
    let grey = reader.decode()?.into_luma8();
    Ok(GreyPicture { width: grey.width() as usize, height: grey.height() as usize, pixels: grey.into_raw() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{DynamicImage, ImageFormat};

    fn encoded(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn every_depth_and_colour_becomes_grey() {
        let pictures = [
            DynamicImage::new_luma8(5, 3),
            DynamicImage::new_luma16(5, 3),
            DynamicImage::new_luma_a8(5, 3),
            DynamicImage::new_rgb8(5, 3),
            DynamicImage::new_rgb16(5, 3),
            DynamicImage::new_rgba16(5, 3),
        ];
        for picture in &pictures {
            let grey = decode(&encoded(picture, ImageFormat::Png)).unwrap();
            assert_eq!((grey.width, grey.height, grey.pixels.len()), (5, 3, 15));
        }
        let grey = decode(&encoded(&pictures[3], ImageFormat::Jpeg)).unwrap();
        assert_eq!((grey.width, grey.height), (5, 3));
    }

    #[test]
    fn a_picture_cut_off_anywhere_is_an_error() {
        let whole = encoded(&DynamicImage::new_rgb8(9, 9), ImageFormat::Png);
        // The last twelve bytes only say that it ends.
        for end in 0..whole.len() - 12 {
            assert!(decode(&whole[..end]).is_err(), "cut off at {end}");
        }
    }

    /// Decoders have panicked on malformed progressive JPEGs. Whatever the bytes, a user sees a picture or an error.
    #[test]
    fn no_mutation_of_a_progressive_jpeg_panics_through() {
        crate::panics::keep_quiet();
        let whole = include_bytes!("../tests/pictures/progressive.jpg");
        let read = |bytes: &[u8]| panics::contained("the decoder gave up", || decode(bytes));
        assert_eq!(read(whole).map(|grey| (grey.width, grey.height)).unwrap(), (24, 16));
        let mut state = 1_u64;
        let mut below = |most: usize| {
            // Knuth's linear congruence; the high bits are the good ones.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % most
        };
        let mut refused = 0;
        for _ in 0..3000 {
            let mut bytes = whole.to_vec();
            for _ in 0..=below(4) {
                let at = below(bytes.len());
                match below(4) {
                    0 => bytes[at] = u8::try_from(below(256)).unwrap(),
                    1 => bytes[at] ^= 1 << below(8),
                    2 => drop(bytes.drain(at..(at + 1 + below(8)).min(bytes.len()))),
                    _ => bytes.truncate(at.max(1)),
                }
                if bytes.is_empty() {
                    break;
                }
            }
            refused += usize::from(read(&bytes).is_err());
        }
        assert!((1..3000).contains(&refused), "{refused}");
    }
}
