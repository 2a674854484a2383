//! Compressed messages: which compressors there are, which of them a connection may use, and their bytes.
//!
//! Decompressing never produces more than the message announces, and what it announces is checked before any
//! memory is taken.

use std::io::{Read, Write};

use crate::error::{WireError, WireErrorKind};

/// A way to compress messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compressor {
    /// Not compressed, in the envelope of a compressed message.
    Noop,
    /// Snappy's block format.
    Snappy,
    /// RFC 1950.
    Zlib,
    /// Zstandard.
    Zstd,
}

/// The level at which Zstandard's own tool compresses.
const ZSTD_LEVEL: i32 = 3;

/// Commands that carry secrets or come before anything is agreed; neither they nor their replies are compressed.
const NEVER_COMPRESSED: [&str; 14] = [
    "hello",
    "isMaster",
    "ismaster",
    "saslStart",
    "saslContinue",
    "getnonce",
    "authenticate",
    "createUser",
    "updateUser",
    "copydbgetnonce",
    "copydbsaslstart",
    "copydb",
    "copydbSaslStart",
    "copydbGetnonce",
];

/// Says whether a command and its reply may be compressed.
pub fn may_compress(command_name: &str) -> bool {
    !NEVER_COMPRESSED.contains(&command_name)
}

/// Returns what the client offers and we have, in the client's order and each once.
pub fn negotiate<'n>(offered: impl IntoIterator<Item = &'n str>) -> Vec<Compressor> {
    let mut agreed = Vec::new();
    for name in offered {
        if let Some(compressor) = Compressor::from_name(name)
            && !agreed.contains(&compressor)
        {
            agreed.push(compressor);
        }
    }
    agreed
}

impl Compressor {
    /// Returns the compressor of that number in a message.
    pub fn from_number(number: u8) -> Option<Compressor> {
        Some(match number {
            0 => Compressor::Noop,
            1 => Compressor::Snappy,
            2 => Compressor::Zlib,
            3 => Compressor::Zstd,
            _ => return None,
        })
    }

    /// Returns the number in a message.
    pub fn number(self) -> u8 {
        match self {
            Compressor::Noop => 0,
            Compressor::Snappy => 1,
            Compressor::Zlib => 2,
            Compressor::Zstd => 3,
        }
    }

    /// Returns the compressor that is negotiated under that name; the one that does nothing never is.
    pub fn from_name(name: &str) -> Option<Compressor> {
        Some(match name {
            "snappy" => Compressor::Snappy,
            "zlib" => Compressor::Zlib,
            "zstd" => Compressor::Zstd,
            _ => return None,
        })
    }

    /// Returns the name under which it is negotiated.
    pub fn name(self) -> &'static str {
        match self {
            Compressor::Noop => "noop",
            Compressor::Snappy => "snappy",
            Compressor::Zlib => "zlib",
            Compressor::Zstd => "zstd",
        }
    }

    /// Appends the compressed form of bytes.
    pub fn compress(self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
        match self {
            Compressor::Noop => out.extend_from_slice(bytes),
            Compressor::Snappy => {
                let compressed = snap::raw::Encoder::new().compress_vec(bytes).map_err(|_| bad("snappy"))?;
                out.extend_from_slice(&compressed);
            }
            Compressor::Zlib => {
                let mut encoder = flate2::write::ZlibEncoder::new(out, flate2::Compression::default());
                encoder.write_all(bytes).map_err(|_| bad("zlib"))?;
                encoder.finish().map_err(|_| bad("zlib"))?;
            }
            Compressor::Zstd => {
                let compressed = zstd::bulk::compress(bytes, ZSTD_LEVEL).map_err(|_| bad("zstd"))?;
                out.extend_from_slice(&compressed);
            }
        }
        Ok(())
    }

    /// Appends what the bytes decompress to, which must be exactly that many bytes; the caller bounds them.
    pub fn decompress(self, bytes: &[u8], size: usize, out: &mut Vec<u8>) -> Result<(), WireError> {
        let start = out.len();
        match self {
            Compressor::Noop if bytes.len() == size => out.extend_from_slice(bytes),
            Compressor::Noop => return Err(bad("noop")),
            Compressor::Snappy => {
                let announced = snap::raw::decompress_len(bytes).map_err(|_| bad("snappy"))?;
                if announced != size {
                    return Err(bad("snappy"));
                }
                out.resize(start + size, 0);
                let count = snap::raw::Decoder::new().decompress(bytes, &mut out[start..]);
                out.truncate(start + count.map_err(|_| bad("snappy"))?);
            }
            Compressor::Zlib => {
                // One byte more is asked for, so that a stream that goes on is seen.
                let mut decoder = flate2::read::ZlibDecoder::new(bytes).take(size as u64 + 1);
                decoder.read_to_end(out).map_err(|_| bad("zlib"))?;
            }
            Compressor::Zstd => {
                // Decompressing in one piece takes no window beside the output.
                let decompressed = zstd::bulk::decompress(bytes, size).map_err(|_| bad("zstd"))?;
                out.extend_from_slice(&decompressed);
            }
        }
        if out.len() - start == size { Ok(()) } else { Err(bad(self.name())) }
    }
}

fn bad(name: &str) -> WireError {
    WireError::new(
        WireErrorKind::BadCompression,
        2,
        format!("a message compressed with {name} does not decompress to what it announces"),
    )
}

#[cfg(test)]
#[path = "compress_tests.rs"]
mod tests;
