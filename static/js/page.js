// What a framed page starts. Each module is one idea and finds what concerns it by its data-attributes.
import { answers } from "./answers.js";
import { calm } from "./calm.js";
import { keep } from "./keep.js";
import { keys } from "./keys.js";
import { live } from "./live.js";
import { strips } from "./strips.js";
import { viewed } from "./viewed.js";
import { written } from "./written.js";

// A page brought back by Back is as old as the moment it was left: it may show buttons that no longer count.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

strips();
keep();
written();
calm();
answers();
keys();
viewed();
live();
