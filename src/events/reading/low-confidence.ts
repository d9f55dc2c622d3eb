/** Under this a reading is a guess: its text is told as raw too, with a warning. */
export const LOW_CONFIDENCE = 0.5;
