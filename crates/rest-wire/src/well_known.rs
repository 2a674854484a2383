//! The accounts that the service's emulators publish, so that their clients need no setup.

/// The key of the emulator of Cosmos DB.
pub const COSMOS_KEY: &str =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

/// The account of the emulators of storage accounts.
pub const STORAGE_ACCOUNT: &str = "devstoreaccount1";

/// The key of that account.
pub const STORAGE_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
