//! Pictures: PNG and JPEG files as grey images of eight bits.

use crate::files;
use anyhow::{Context, Result};
use homolog_viz::GreyPicture;
use image::{ImageReader, Limits};
use std::io::Cursor;
use std::path::Path;

/// No picture is wider or higher than this, in pixels.
const LONGEST_SIDE: u32 = 16_384;
/// Decoding takes no more memory than this, in bytes.
const MOST_MEMORY: u64 = 1 << 30;

/// A grey picture, row by row.
pub(crate) struct Grey {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<u8>,
}

impl Grey {
    pub(crate) fn into_viz(self) -> GreyPicture {
        GreyPicture { width: self.width, height: self.height, pixels: self.pixels }
    }
}

/// Reads a PNG or JPEG file of any depth and colour; what shines through is seen on black.
pub(crate) fn read(path: &Path) -> Result<Grey> {
    let bytes = files::read(path)?;
    decode(&bytes).with_context(|| format!("cannot read the picture {}", path.display()))
}

fn decode(bytes: &[u8]) -> Result<Grey> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(LONGEST_SIDE);
    limits.max_image_height = Some(LONGEST_SIDE);
    limits.max_alloc = Some(MOST_MEMORY);
    reader.limits(limits);
    let grey = reader.decode()?.into_luma8();
    Ok(Grey { width: grey.width() as usize, height: grey.height() as usize, pixels: grey.into_raw() })
}
