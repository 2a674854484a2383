//! What kinds of resources there are.

/// The kinds of resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceKind {
    /// A database.
    Database,
    /// A container.
    Container,
    /// An item.
    Item,
    /// The throughput of a database or container.
    Offer,
    /// A user.
    User,
    /// A permission of a user.
    Permission,
    /// A user-defined function of a container.
    UserDefinedFunction,
    /// A stored procedure of a container.
    StoredProcedure,
    /// A trigger of a container.
    Trigger,
    /// A client encryption key of a database.
    EncryptionKey,
}

impl ResourceKind {
    /// Returns the word for it.
    pub fn noun(self) -> &'static str {
        match self {
            ResourceKind::Database => "database",
            ResourceKind::Container => "container",
            ResourceKind::Item => "item",
            ResourceKind::Offer => "offer",
            ResourceKind::User => "user",
            ResourceKind::Permission => "permission",
            ResourceKind::UserDefinedFunction => "user-defined function",
            ResourceKind::StoredProcedure => "stored procedure",
            ResourceKind::Trigger => "trigger",
            ResourceKind::EncryptionKey => "client encryption key",
        }
    }
}
