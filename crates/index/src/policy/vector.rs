//! Vector indexes: `[{"path": "/v", "type": "diskANN", ...}, ...]`.
//!
//! Most texts of refusals are the service's own: the official clients' tests look for parts of them.

use armilla_value::Value;

use super::{check_word, object};
use crate::limits;
use crate::paths::PropertyRoute;
use crate::reader::{Field, PolicyError};

/// How a vector index is organised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorIndexType {
    /// The vectors as they are.
    Flat,
    /// The vectors in a compressed form.
    QuantizedFlat,
    /// A graph of neighbours over compressed vectors.
    DiskAnn,
}

impl VectorIndexType {
    const ALL: [VectorIndexType; 3] =
        [VectorIndexType::Flat, VectorIndexType::QuantizedFlat, VectorIndexType::DiskAnn];

    /// Returns the word that stands for the type in a policy.
    pub fn word(self) -> &'static str {
        match self {
            VectorIndexType::Flat => "flat",
            VectorIndexType::QuantizedFlat => "quantizedFlat",
            VectorIndexType::DiskAnn => "diskANN",
        }
    }

    /// Returns the most dimensions a vector under such an index may have.
    pub fn dimensions_max(self) -> u32 {
        match self {
            VectorIndexType::Flat => limits::FLAT_DIMENSIONS_MAX,
            VectorIndexType::QuantizedFlat | VectorIndexType::DiskAnn => limits::VECTOR_DIMENSIONS_MAX,
        }
    }
}

/// How vectors are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuantizerType {
    /// Product quantization.
    Product,
    /// Spherical quantization.
    Spherical,
}

impl QuantizerType {
    /// Returns the word that stands for the quantizer in a policy.
    pub fn word(self) -> &'static str {
        match self {
            QuantizerType::Product => "product",
            QuantizerType::Spherical => "spherical",
        }
    }
}

/// One vector index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorIndex {
    /// Where the vectors stand.
    pub path: PropertyRoute,
    /// How the index is organised.
    pub index_type: VectorIndexType,
    /// How vectors are compressed, where given.
    pub quantizer_type: Option<QuantizerType>,
    /// How many bytes a compressed vector takes, where given.
    pub quantization_bytes: Option<i64>,
    /// How many candidates are looked at while the graph is built, where given.
    pub search_list_size: Option<u32>,
    /// The paths by whose values the index is cut into shards, where given.
    pub shard_key: Option<Vec<PropertyRoute>>,
}

pub(super) fn read(policy: &Field<'_>) -> Result<Option<Vec<VectorIndex>>, PolicyError> {
    let Some(list) = policy.member("vectorIndexes") else { return Ok(None) };
    let mut indexes: Vec<VectorIndex> = Vec::new();
    for element in list.elements()? {
        let index = read_one(&element)?;
        if indexes.iter().any(|earlier| earlier.path == index.path) {
            return Err(element.refuse(format!("the vector path '{}' is indexed more than once", index.path)));
        }
        indexes.push(index);
    }
    Ok(Some(indexes))
}

fn read_one(element: &Field<'_>) -> Result<VectorIndex, PolicyError> {
    element.expect_object()?;
    let path = element.required("path")?;
    let text = path.text()?;
    let route = PropertyRoute::parse_outside_arrays(text).map_err(|_| {
        path.refuse(format!(
            "The Vector Indexing Policy has an invalid Path:{text}. Specify the correct path for vector \
             properties of your documents."
        ))
    })?;
    let type_field = element.required("type")?;
    let word = type_field.text()?;
    let index_type = VectorIndexType::ALL
        .into_iter()
        .find(|known| known.word().eq_ignore_ascii_case(word))
        .ok_or_else(|| {
        type_field.refuse(format!(
            "The Vector Indexing Policy's Index Type::{word} is invalid. It must be one of flat, \
                 quantizedFlat and diskANN."
        ))
    })?;
    let quantizer_type = match element.member("quantizerType") {
        None => None,
        Some(field) => Some(match check_word(&field, "quantizer type", &["product", "spherical"])? {
            0 => QuantizerType::Product,
            _ => QuantizerType::Spherical,
        }),
    };
    let quantization_bytes =
        element.member("quantizationByteSize").map(|field| field.integer()).transpose()?;
    Ok(VectorIndex {
        path: route,
        index_type,
        quantizer_type,
        quantization_bytes,
        search_list_size: read_search_list_size(element)?,
        shard_key: read_shard_key(element)?,
    })
}

fn read_search_list_size(element: &Field<'_>) -> Result<Option<u32>, PolicyError> {
    let Some(field) = element.member("indexingSearchListSize") else { return Ok(None) };
    let size = field.integer()?;
    let allowed = limits::SEARCH_LIST_MIN..=limits::SEARCH_LIST_MAX;
    match u32::try_from(size).ok().filter(|size| allowed.contains(size)) {
        Some(size) => Ok(Some(size)),
        None => {
            let (least, most) = (limits::SEARCH_LIST_MIN, limits::SEARCH_LIST_MAX);
            Err(field.refuse(out_of_range("IndexingSearchListSize", size, least, most)))
        }
    }
}

fn read_shard_key(element: &Field<'_>) -> Result<Option<Vec<PropertyRoute>>, PolicyError> {
    let Some(field) = element.member("vectorIndexShardKey") else { return Ok(None) };
    let Ok(elements) = field.elements() else {
        return Err(field.refuse(format!(
            "One of the specified inputs is invalid: '{}' must be an array of paths",
            field.path()
        )));
    };
    if elements.len() > limits::VECTOR_SHARD_PATHS_MAX {
        return Err(field.refuse(format!(
            "The number of shard paths defined in the Vector Indexing Policy: {} exceeds the maximum: {}.",
            elements.len(),
            limits::VECTOR_SHARD_PATHS_MAX
        )));
    }
    let read_path = |element: &Field<'_>| {
        let text = element.text()?;
        PropertyRoute::parse_outside_arrays(text).map_err(|_| {
            element.refuse(format!("The Vector Indexing Policy has an invalid Shard Path: {text}."))
        })
    };
    elements.iter().map(read_path).collect::<Result<Vec<_>, _>>().map(Some)
}

/// Checks what depends on the vectors themselves: that there are such, their size, and with it how small
/// they can be made.
pub(super) fn check(
    indexes: &[VectorIndex],
    dimensions: impl Fn(&PropertyRoute) -> Option<u32>,
) -> Result<(), PolicyError> {
    for (position, index) in indexes.iter().enumerate() {
        let place = format!("indexingPolicy.vectorIndexes[{position}]");
        let known = dimensions(&index.path);
        if let Some(bytes) = index.quantization_bytes {
            let least = limits::QUANTIZATION_BYTES_MIN;
            let most = limits::QUANTIZATION_BYTES_MAX.min(known.unwrap_or(limits::QUANTIZATION_BYTES_MAX));
            if bytes < i64::from(least) || bytes > i64::from(most) {
                return Err(PolicyError {
                    message: out_of_range("QuantizationByteSize", bytes, least, most),
                    path: format!("{place}.quantizationByteSize"),
                });
            }
        }
        let Some(dimensions) = known else {
            return Err(PolicyError {
                message: format!(
                    "The Vector Indexing Policy's path::{} not matching in Embedding's path.",
                    index.path
                ),
                path: format!("{place}.path"),
            });
        };
        let dimensions_max = index.index_type.dimensions_max();
        if dimensions > dimensions_max {
            return Err(PolicyError {
                message: format!(
                    "The Vector Indexing Policy's path::{} has Dimensions:{dimensions} which is more than \
                     the maximum supported value {dimensions_max} of Index Type::{}.",
                    index.path,
                    index.index_type.word()
                ),
                path: format!("{place}.type"),
            });
        }
    }
    Ok(())
}

fn out_of_range(parameter: &str, value: i64, least: u32, most: u32) -> String {
    format!(
        "The Vector Indexing Policy parameter {parameter} value :: {value} is out of range. The allowed \
         range is between {least} and {most}."
    )
}

pub(super) fn write(indexes: &[VectorIndex]) -> Value {
    Value::Array(indexes.iter().map(write_one).collect())
}

fn write_one(index: &VectorIndex) -> Value {
    let mut members = vec![
        ("path", Value::String(index.path.text().into())),
        ("type", Value::String(index.index_type.word().into())),
    ];
    if let Some(quantizer_type) = index.quantizer_type {
        members.push(("quantizerType", Value::String(quantizer_type.word().into())));
    }
    if let Some(bytes) = index.quantization_bytes {
        members.push(("quantizationByteSize", Value::Int64(bytes)));
    }
    if let Some(size) = index.search_list_size {
        members.push(("indexingSearchListSize", Value::Int64(i64::from(size))));
    }
    if let Some(paths) = &index.shard_key {
        let texts = paths.iter().map(|path| Value::String(path.text().into()));
        members.push(("vectorIndexShardKey", Value::Array(texts.collect())));
    }
    object(members)
}
