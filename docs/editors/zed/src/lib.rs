use zed_extension_api::{self as zed, settings::LspSettings, LanguageServerId, Result};

/// Starts the `tried` that is on the PATH.
struct Tried;

impl zed::Extension for Tried {
    fn new() -> Self {
        Tried
    }

    fn language_server_command(
        &mut self,
        _: &LanguageServerId,
        worktree: &zed::Worktree,
    ) -> Result<zed::Command> {
        let command = worktree
            .which("tried")
            .ok_or("tried is not on the PATH: install it, or name it in lsp.tried.binary.path")?;
        Ok(zed::Command {
            command,
            args: vec!["serve".into()],
            env: worktree.shell_env(),
        })
    }

    fn language_server_workspace_configuration(
        &mut self,
        server: &LanguageServerId,
        worktree: &zed::Worktree,
    ) -> Result<Option<zed::serde_json::Value>> {
        let settings = LspSettings::for_worktree(server.as_ref(), worktree)?.settings;
        Ok(settings)
    }
}

zed::register_extension!(Tried);
