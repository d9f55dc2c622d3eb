export { VERSION } from '../runs/package-version.js';
