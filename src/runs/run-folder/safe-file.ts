/** The run folder's way of opening files that a worker may have planted: floors above read result files with it. */
export { openForReading } from '../../audit/files/safe-file.js';
