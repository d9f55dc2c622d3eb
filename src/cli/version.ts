export { VERSION } from '../files/index.js';
