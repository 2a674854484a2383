//! `vectorEmbeddingPolicy`: the vectors that items hold, and what their indexes may be.

use armilla_index::IndexingPolicy;
use armilla_index::paths::PropertyRoute;
use armilla_index::policy::VectorIndex;
use armilla_index::reader::Field;
use armilla_value::Value;

use super::json::{integer, object};
use super::{DefinitionError, limits};

/// The type of a vector's components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorDataType {
    /// Two-byte floating point.
    Float16,
    /// Four-byte floating point.
    Float32,
    /// Signed byte.
    Int8,
    /// Unsigned byte.
    Uint8,
}

impl VectorDataType {
    const ALL: [VectorDataType; 4] =
        [VectorDataType::Float16, VectorDataType::Float32, VectorDataType::Int8, VectorDataType::Uint8];

    /// Returns the word that stands for the type in a definition.
    pub fn word(self) -> &'static str {
        match self {
            VectorDataType::Float16 => "float16",
            VectorDataType::Float32 => "float32",
            VectorDataType::Int8 => "int8",
            VectorDataType::Uint8 => "uint8",
        }
    }
}

/// How far apart two vectors are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistanceFunction {
    /// By the angle between them.
    Cosine,
    /// By their product.
    DotProduct,
    /// By the length of their difference.
    Euclidean,
}

impl DistanceFunction {
    const ALL: [DistanceFunction; 3] =
        [DistanceFunction::Cosine, DistanceFunction::DotProduct, DistanceFunction::Euclidean];

    /// Returns the word that stands for the function in a definition.
    pub fn word(self) -> &'static str {
        match self {
            DistanceFunction::Cosine => "cosine",
            DistanceFunction::DotProduct => "dotproduct",
            DistanceFunction::Euclidean => "euclidean",
        }
    }
}

/// One vector that items hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorEmbedding {
    /// Where it stands.
    pub path: PropertyRoute,
    /// What its components are.
    pub data_type: VectorDataType,
    /// How many there are.
    pub dimensions: u32,
    /// How two such vectors are compared.
    pub distance_function: DistanceFunction,
}

pub(super) fn read(body: &Field<'_>) -> Result<Option<Vec<VectorEmbedding>>, DefinitionError> {
    let Some(policy) = body.member("vectorEmbeddingPolicy") else { return Ok(None) };
    policy.expect_object()?;
    let list = policy.required("vectorEmbeddings")?;
    let mut embeddings: Vec<VectorEmbedding> = Vec::new();
    for element in list.elements()? {
        let embedding = read_one(&element)?;
        if embeddings.iter().any(|earlier| earlier.path == embedding.path) {
            let message = format!("The Vector Embedding Policy has the Path:{} twice.", embedding.path);
            return Err(DefinitionError::new(element.path(), message));
        }
        embeddings.push(embedding);
    }
    Ok(Some(embeddings))
}

fn read_one(element: &Field<'_>) -> Result<VectorEmbedding, DefinitionError> {
    element.expect_object()?;
    let path_field = element.required("path")?;
    let text = path_field.text()?;
    let path = PropertyRoute::parse_outside_arrays(text).map_err(|_| {
        let message = format!(
            "The Vector Embedding Policy has an invalid Path:{text}. Specify the correct path for vector \
             properties of your documents."
        );
        DefinitionError::new(path_field.path(), message)
    })?;
    let type_field = element.required("dataType")?;
    let word = type_field.text()?;
    let data_type = VectorDataType::ALL
        .into_iter()
        .find(|known| known.word().eq_ignore_ascii_case(word))
        .ok_or_else(|| {
            let message = format!(
                "The Vector Embedding Policy has an invalid DataType:{word}. It must be one of float16, \
                 float32, int8 and uint8."
            );
            DefinitionError::new(type_field.path(), message)
        })?;
    let function_field = element.required("distanceFunction")?;
    let word = function_field.text()?;
    let distance_function = DistanceFunction::ALL
        .into_iter()
        .find(|known| known.word().eq_ignore_ascii_case(word))
        .ok_or_else(|| {
            let message = format!(
                "The Vector Embedding Policy has an invalid DistanceFunction:{word}. It must be one of \
                 cosine, dotproduct and euclidean."
            );
            DefinitionError::new(function_field.path(), message)
        })?;
    Ok(VectorEmbedding { path, data_type, dimensions: read_dimensions(element)?, distance_function })
}

fn read_dimensions(element: &Field<'_>) -> Result<u32, DefinitionError> {
    let field = element.required("dimensions")?;
    let dimensions = field.integer()?;
    let dimensions_max = limits::VECTOR_DIMENSIONS_MAX;
    let message = match u32::try_from(dimensions) {
        Ok(dimensions) if (1..=dimensions_max).contains(&dimensions) => return Ok(dimensions),
        _ if dimensions > 0 => format!(
            "The Vector Embedding Policy has Dimensions:{dimensions} which is more than the maximum supported \
             value {dimensions_max}."
        ),
        _ => format!(
            "The Vector Embedding Policy has Dimensions:{dimensions} which is not a positive integer."
        ),
    };
    Err(DefinitionError::new(field.path(), message))
}

pub(super) fn write(embeddings: &[VectorEmbedding]) -> Value {
    let write_one = |embedding: &VectorEmbedding| {
        object([
            ("path", embedding.path.text().into()),
            ("dataType", embedding.data_type.word().into()),
            ("dimensions", integer(embedding.dimensions)),
            ("distanceFunction", embedding.distance_function.word().into()),
        ])
    };
    object([("vectorEmbeddings", Value::Array(embeddings.iter().map(write_one).collect()))])
}

pub(super) fn check_indexes(
    embeddings: &[VectorEmbedding],
    indexing: &IndexingPolicy,
) -> Result<(), DefinitionError> {
    let dimensions = |path: &PropertyRoute| {
        embeddings.iter().find(|embedding| embedding.path == *path).map(|embedding| embedding.dimensions)
    };
    Ok(indexing.check_vectors(dimensions)?)
}

/// Vectors that are there stay as they are; new ones may come. A replace that does not speak of vectors
/// leaves them alone.
pub(super) fn replace(
    old: Option<&[VectorEmbedding]>,
    new: Option<&[VectorEmbedding]>,
) -> Result<Option<Vec<VectorEmbedding>>, DefinitionError> {
    let Some(new) = new else { return Ok(old.map(<[_]>::to_vec)) };
    if old.unwrap_or_default().iter().all(|embedding| new.contains(embedding)) {
        return Ok(Some(new.to_vec()));
    }
    Err(DefinitionError::new(
        "vectorEmbeddingPolicy",
        "Paths in existing embedding policy cannot be modified in Collection Replace. They can only be added.",
    ))
}

/// An index on a vector may go or come, but not become another one in place.
pub(super) fn check_indexes_kept(old: &[VectorIndex], new: &[VectorIndex]) -> Result<(), DefinitionError> {
    let changed = |new: &VectorIndex| {
        old.iter().any(|old| {
            old.path == new.path
                && (old.index_type != new.index_type
                    || differ(&old.quantizer_type, &new.quantizer_type)
                    || differ(&old.quantization_bytes, &new.quantization_bytes)
                    || differ(&old.search_list_size, &new.search_list_size)
                    || differ(&old.shard_key, &new.shard_key))
        })
    };
    match new.iter().position(changed) {
        None => Ok(()),
        Some(position) => Err(DefinitionError::new(
            format!("indexingPolicy.vectorIndexes[{position}]"),
            "Paths in existing vector indexing policy cannot be modified in Collection Replace. They can only \
             be added or removed.",
        )),
    }
}

/// What one of the two leaves out is whatever the other says.
fn differ<T: PartialEq>(old: &Option<T>, new: &Option<T>) -> bool {
    matches!((old, new), (Some(old), Some(new)) if old != new)
}
