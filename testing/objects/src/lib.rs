//! An object store that fails as object stores do: before it has done something, after it has, or late.
//!
//! Puts, gets and lists ask a [`Plan`] what is to become of them. Parts of large uploads, copies and deletes do not: the
//! stores under test make none, or may fail at them as they like.

mod process_clock;
mod trouble;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use armilla_env::Clock;
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

pub use process_clock::ProcessClock;
pub use trouble::{Level, Trouble};

/// What is asked of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// An object is written.
    Put,
    /// An object is read, or looked at.
    Get,
    /// Objects are listed.
    List,
}

/// What becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fate {
    /// How long it takes to reach the store.
    pub there: Duration,
    /// How long the answer takes.
    pub back: Duration,
    /// Whether it never reaches the store.
    pub is_lost: bool,
    /// Whether the answer never comes.
    pub is_answer_lost: bool,
}

/// Says what becomes of an operation on a path.
pub type Plan = dyn Fn(Op, &Path) -> Fate + Send + Sync;

/// An object store with a plan.
#[derive(Clone)]
pub struct FaultyObjects {
    inner: Arc<dyn ObjectStore>,
    clock: Arc<dyn Clock>,
    plan: Arc<Plan>,
}

impl FaultyObjects {
    /// Puts a plan before an object store. Delays are of a clock.
    pub fn new(inner: Arc<dyn ObjectStore>, clock: Arc<dyn Clock>, plan: Arc<Plan>) -> FaultyObjects {
        FaultyObjects { inner, clock, plan }
    }

    async fn wait(&self, duration: Duration) {
        if !duration.is_zero() {
            self.clock.sleep(duration).await;
        }
    }

    /// Does something as the plan has it.
    async fn planned<T>(&self, op: Op, path: &Path, work: impl Future<Output = Result<T>>) -> Result<T> {
        let fate = (self.plan)(op, path);
        self.wait(fate.there).await;
        if fate.is_lost {
            return Err(lost("the request"));
        }
        let done = work.await;
        self.wait(fate.back).await;
        match fate.is_answer_lost {
            true => Err(lost("the answer")),
            false => done,
        }
    }
}

fn lost(what: &str) -> Error {
    Error::Generic { store: "faulty", source: format!("{what} was lost, as planned").into() }
}

impl fmt::Debug for FaultyObjects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyObjects").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl fmt::Display for FaultyObjects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "faulty {}", self.inner)
    }
}

#[async_trait]
impl ObjectStore for FaultyObjects {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        let (store, path) = (self.clone(), path.clone());
        let put = async move {
            let work = store.inner.put_opts(&path, payload, options);
            store.planned(Op::Put, &path, work).await
        };
        // What was sent arrives, whether or not its sender is still there.
        tokio::spawn(put).await.unwrap_or_else(|_| Err(lost("the request")))
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.planned(Op::Get, path, self.inner.get_opts(path, options)).await
    }

    async fn get_ranges(&self, path: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.planned(Op::Get, path, self.inner.get_ranges(path, ranges)).await
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let (store, prefix) = (self.clone(), prefix.cloned());
        let listed = async move {
            let whole = Path::default();
            let of = prefix.as_ref().unwrap_or(&whole);
            let all = async { Ok(store.inner.list(prefix.as_ref()).collect::<Vec<_>>().await) };
            match store.planned(Op::List, of, all).await {
                Ok(all) => stream::iter(all),
                Err(error) => stream::iter(vec![Err(error)]),
            }
        };
        stream::once(listed).flatten().boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let whole = Path::default();
        let listed = self.inner.list_with_delimiter(prefix);
        self.planned(Op::List, prefix.unwrap_or(&whole), listed).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
