//! api-sql
