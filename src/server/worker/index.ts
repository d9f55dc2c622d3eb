export { connect } from './connection.js';
export { openRemotePorts, type RemotePorts } from './remote-store.js';
