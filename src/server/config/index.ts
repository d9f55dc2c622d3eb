export {
  addAgentToConfig,
  type ConfigFlags,
  describeUnknownKey,
  examineConfig,
  findConfigFile,
  findSubschema,
  getMember,
  loadConfig,
} from './load-config.js';
export { recordTrust, revokeTrust, type UntrustedConfig } from './trust.js';
export {
  createNotifyPost,
  createSinks,
  createArchive,
  readCommentTemplate,
  readSandbox,
  readSecrets,
} from './read-settings.js';
export { DEFAULT_SINKS, findDatabaseFile, readPacking, readRetention, type Config, type ModelPrice } from './config.js';
export {
  type Token,
  findTokensFile,
  readTokens,
  findLocalTokenFile,
  openLocalToken,
  readLocalToken,
  rotateLocalToken,
} from './tokens.js';
