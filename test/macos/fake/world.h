/* What the rest of the library asks of the scene. */
#ifndef WORLD_H
#define WORLD_H

/** Lets everything happen that is due: delayed effects, and what other processes did to the scene. */
void world_turn(void);
/** NSWorkspace and NSRunningApplication only notice changes while the run loop turns. */
void world_refresh_workspace(void);

#endif
