export { SluiceOutputParser } from '../json/adapters/langchain.js';
