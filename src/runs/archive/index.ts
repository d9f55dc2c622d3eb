export { ArchiveError } from './s3-client.js';
export { readArchiveSettings } from './archive-settings.js';
export { openArchive, type Archive } from './open-archive.js';
export type { UploadProgress } from './upload-file.js';
export type { GrowingCopy } from './growing-run.js';
export { createSessionKeeper, readManifest, MAX_SESSION_PARTS } from './saved-sessions.js';
export type { SessionKeeper, SessionManifest, SessionParts } from './saved-sessions.js';
