export { type ConfigFlags, examineConfig, findConfigFile, loadConfig } from './load-config.js';
export { recordTrust, revokeTrust, type UntrustedConfig } from './trust.js';
export { createNotifyPost, createSinks } from './create-sinks.js';
export { findDatabaseFile, readPacking, readRetention, type Config } from './config.js';
export { type Token, findTokensFile, readTokens } from './read-tokens.js';
export { findLocalTokenFile, openLocalToken, readLocalToken, rotateLocalToken } from './local-token.js';
export { createArchive } from './create-archive.js';
export { readSandbox } from './read-sandbox.js';
export { readSecrets } from './read-secrets.js';
