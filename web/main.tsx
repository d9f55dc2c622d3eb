import { render } from 'preact';
import { App } from './app/app.js';
import { language } from './app/language.js';

document.documentElement.lang = language;
const root = document.querySelector('#app');
if (root !== null) render(<App />, root);
