export { SluiceOutputParser } from '../adapters/langchain.js';
