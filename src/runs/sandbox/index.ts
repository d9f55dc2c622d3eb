export { probeSandbox, type SandboxSupport } from './probe-sandbox.js';
export { openSandbox, type Sandbox, type SandboxFolders } from './open-sandbox.js';
export { removePlaceholders, type GitGuards } from './mounts/git-folders.js';
export type { StateFolder } from './mounts/state-folders.js';
export type { DeniedHost } from './network/proxy.js';
export { isPrivateAddress } from './network/host-list.js';
export { SandboxError } from './mounts/mount.js';
