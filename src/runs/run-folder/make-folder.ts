/** The run folder's way of making folders, for the floors above. */
export { makeFolder } from '../../audit/files/make-folder.js';
