/** The run folder's way of writing a file whole or not at all, for the floors above. */
export { replaceFile } from '../../audit/files/replace-file.js';
